/* SPDX-License-Identifier: Apache-2.0 */
/* Which directories may become an execution's ${workdir}, and so be opened to agent code. */
#include "daemon/host/workdir.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/listed.h"

#define PASSWD_MAX (16u << 20)
/* Deeper ones have no name that a call takes. */
#define DEPTH_MAX (PATH_MAX / 2)
/* The time for each home, and after how many silent homes the rest counts as silent. */
#define HOME_MSEC	 300
#define SILENT_HOMES_MAX 3u
/* Directories of cordon's own that a caller may name. */
#define OWN_MAX 8u

/* May not be a work directory, nor lie below one. */
static const char *const system_directories[] = {
	"/",
	"/boot",
	"/dev",
	"/etc",
	"/home",
	"/media",
	"/mnt",
	"/opt",
	"/proc",
	"/root",
	"/run",
	"/srv",
	"/sys",
	"/tmp",
	"/usr",
	"/usr/bin",
	"/usr/lib",
	"/usr/local",
	"/usr/sbin",
	"/usr/share",
	"/var",
	"/var/cache",
	"/usr/local/bin",
	"/usr/local/lib",
	"/var/lib",
	"/var/log",
	"/var/spool",
	"/var/tmp",
	/* Links into /usr mostly, so last: the name that the caller knows is said. */
	"/bin",
	"/lib",
	"/lib32",
	"/lib64",
	"/sbin",
	NULL,
};

/* Nothing below them may be one either. */
static const char *const closed_trees[] = {"/boot", "/etc", "/proc", "/sys"};

const char *const *workdir_system_directories(void)
{
	return system_directories;
}

/*
 * Takes the last word off an absolute path; one that has ".." is no name of what it is said to be.
 */
static void leave_last(char *name)
{
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		length--;
	while (length > 1 && name[length - 1] != '/')
		length--;
	while (length > 1 && name[length - 1] == '/')
		length--;
	name[length] = '\0';
}

/* A directory as it is seen in one mount: what lies above it is the same each time. */
struct place {
	uint64_t mount, device, inode;
};

/*
 * Of a climb that goes on. STEP_CLEAR: nothing that is looked for lies further up. STEP_UNCACHED:
 * the kernel's caches do not suffice, and a file system may be unresponsive.
 */
enum step { STEP_ON, STEP_FOUND, STEP_CLEAR, STEP_LINK, STEP_NOWHERE, STEP_UNCACHED };

/* Renames elsewhere make the kernel start a lookup again that uses its caches alone. */
#define CACHED_TRIES 16

/* -EAGAIN: `cached`, and the lookup needs the file system. */
static int open_path(int directory, const char *name, uint64_t flags, bool cached)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
				     .resolve = cached ? RESOLVE_CACHED : 0};
	int fd = -1;

	for (int i = 0; i < CACHED_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}

typedef enum step (*judge_place)(void *context, const struct place *place);

static bool same_place(const struct place *a, const struct place *b)
{
	return a->inode == b->inode && a->device == b->device && a->mount == b->mount;
}

/* Sends no request to a server. */
static enum step look_at(int fd, struct place *ret_place)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO | STATX_MNT_ID,
		  &st) < 0)
		return STEP_NOWHERE;
	if (S_ISLNK(st.stx_mode))
		return STEP_LINK;
	*ret_place = (struct place){st.stx_mnt_id, makedev(st.stx_dev_major, st.stx_dev_minor),
				    st.stx_ino};
	return STEP_ON;
}

/* `flags`: O_NOFOLLOW or none. O_PATH makes an automounter mount nothing. */
static enum step look_at_name(const char *name, uint64_t flags, bool cached,
			      struct place *ret_place)
{
	_cleanup_(closep) int fd = open_path(AT_FDCWD, name, flags, cached);

	if (fd == -EAGAIN && cached)
		return STEP_UNCACHED;
	return fd < 0 ? STEP_NOWHERE : look_at(fd, ret_place);
}

/*
 * From the directory that is open to the root, whose parent is itself, by "..", so that names play
 * no part, and one step at a time: whoever asks chooses how deep it lies.
 */
static enum step climb(int inner_fd, bool cached, judge_place judge, void *context)
{
	_cleanup_(closep) int fd = open_path(inner_fd, ".", O_DIRECTORY, cached);
	struct place here, below = {};

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		enum step step = fd == -EAGAIN && cached ? STEP_UNCACHED
				 : fd < 0		 ? STEP_NOWHERE
							 : look_at(fd, &here);
		int parent;

		if (step == STEP_ON && depth > 0 && same_place(&here, &below))
			return STEP_CLEAR;
		if (step == STEP_ON)
			step = judge(context, &here);
		if (step != STEP_ON)
			return step;
		below = here;
		parent = open_path(fd, "..", O_DIRECTORY, cached);
		close(fd);
		fd = parent;
	}
	return STEP_FOUND;
}

/*
 * What is asked about one directory, and the places from which a climb did not come upon it: nobody
 * climbs from there once more. What finds no room is climbed again.
 */
struct question {
	bool cached;
	uint64_t device, inode;
	size_t clear, count; /* places behind the first `clear` are of a climb that goes on */
	struct place places[96];
	/* System directories that were climbed from before the one at this index. */
	size_t system;
};

static enum step judge_above(void *context, const struct place *place)
{
	struct question *q = context;

	if (place->inode == q->inode && place->device == q->device)
		return STEP_FOUND;
	for (size_t i = 0; i < q->clear; i++)
		if (same_place(&q->places[i], place))
			return STEP_CLEAR;
	if (q->count < ARRAY_SIZE(q->places))
		q->places[q->count++] = *place;
	return STEP_ON;
}

/* A system directory that a climb began from without coming upon anything. */
static bool is_clear_name(const struct question *q, const char *name)
{
	for (size_t i = 0; i < q->system; i++)
		if (strcmp(system_directories[i], name) == 0)
			return true;
	return false;
}

/*
 * By the name's own words as long as these are no links: a home may be a mount whose server does
 * not answer, or mounted by whoever steps into it. Nearly all end at a system directory.
 */
static enum step climb_path(struct question *q, const char *path)
{
	_cleanup_(closep) int fd = -1;
	struct place place;
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s", path) >= (int)sizeof(name))
		return STEP_NOWHERE;
	for (;;) {
		enum step step = look_at_name(name, O_NOFOLLOW, q->cached, &place);

		if (step == STEP_LINK)
			break;
		if (step == STEP_ON)
			step = judge_above(q, &place);
		if (step != STEP_ON)
			return step;
		if (strcmp(name, "/") == 0)
			return STEP_CLEAR;
		leave_last(name);
		if (is_clear_name(q, name))
			return STEP_CLEAR;
	}
	/* Where it leads is known mostly, as /usr/bin is. */
	fd = open_path(AT_FDCWD, name, O_DIRECTORY, q->cached);
	if (fd == -EAGAIN && q->cached)
		return STEP_UNCACHED;
	if (fd >= 0 && look_at(fd, &place) == STEP_ON) {
		enum step step = judge_above(q, &place);

		if (step != STEP_ON)
			return step;
	}
	return fd < 0 ? STEP_NOWHERE : climb(fd, q->cached, judge_above, q);
}

/*
 * Does the name lead to the directory, or to something in it? What cannot be looked at does not
 * exist for anybody. -EAGAIN: the caches do not suffice.
 */
static int contains_path(struct question *q, const char *path)
{
	enum step step = climb_path(q, path);

	if (step == STEP_CLEAR)
		q->clear = q->count;
	else
		q->count = q->clear;
	return step == STEP_UNCACHED ? -EAGAIN : step == STEP_FOUND;
}

/* Directories in which nothing may be a work directory: the system's, and cordon's own. */
struct closed {
	size_t count;
	struct {
		const char *relation, *path;
		uint64_t device, inode;
	} trees[ARRAY_SIZE(closed_trees) + OWN_MAX];
	size_t found; /* which of them; `count`: none */
};

#define OWN_RELATION "lies in cordon's own directory"

static enum step judge_below(void *context, const struct place *place)
{
	struct closed *closed = context;

	for (closed->found = 0; closed->found < closed->count; closed->found++)
		if (closed->trees[closed->found].inode == place->inode &&
		    closed->trees[closed->found].device == place->device)
			return STEP_FOUND;
	return STEP_ON;
}

static void close_tree(struct closed *closed, const char *relation, const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO, &st) < 0)
		return;
	closed->trees[closed->count].relation = relation;
	closed->trees[closed->count].path = path;
	closed->trees[closed->count].device = makedev(st.stx_dev_major, st.stx_dev_minor);
	closed->trees[closed->count].inode = st.stx_ino;
	closed->count++;
}

static int refuse(struct failure *failure, const char *relation, const char *path)
{
	return failure_set(failure, EPERM,
			   "the work directory %s %s; choose a directory of its own for the code "
			   "to work in",
			   relation, path);
}

static int uncached(struct failure *failure)
{
	return failure_set(failure, EAGAIN,
			   "the work directory cannot be checked without its file system");
}

static int climb_closed(int fd, bool cached, struct closed *closed, struct failure *failure)
{
	enum step step;

	closed->found = closed->count;
	step = climb(fd, cached, judge_below, closed);
	if (step == STEP_UNCACHED)
		return uncached(failure);
	if (step != STEP_FOUND)
		return 0;
	if (closed->found == closed->count)
		return refuse(failure, "lies deeper than", "anybody climbs");
	return refuse(failure, closed->trees[closed->found].relation,
		      closed->trees[closed->found].path);
}

int workdir_check_log(int fd, bool cached, const char *path, dev_t device, ino_t inode,
		      struct failure *failure)
{
	struct closed closed = {.count = 1};

	closed.trees[0].relation = OWN_RELATION;
	closed.trees[0].path = path;
	closed.trees[0].device = device;
	closed.trees[0].inode = inode;
	return climb_closed(fd, cached, &closed, failure);
}

static int check_closed(int fd, bool cached, const char *const *own, struct failure *failure)
{
	struct closed closed = {};

	for (size_t i = 0; i < ARRAY_SIZE(closed_trees); i++)
		close_tree(&closed, "lies in the system directory", closed_trees[i]);
	for (size_t i = 0; own[i]; i++) {
		if (i == OWN_MAX)
			return failure_set(failure, E2BIG, "more than %u directories of cordon's",
					   OWN_MAX);
		close_tree(&closed, OWN_RELATION, own[i]);
	}
	return climb_closed(fd, cached, &closed, failure);
}

/* --- homes ------------------------------------------------------------------------------------ */

/* Homes that are not in the caches. */
struct homes {
	char **paths;
	size_t count;
};

static void homes_release(struct homes *homes)
{
	for (size_t i = 0; i < homes->count; i++)
		free(homes->paths[i]);
	free(homes->paths);
}

static int homes_add(struct homes *homes, const char *path)
{
	char **larger = reallocarray(homes->paths, homes->count + 1, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	homes->paths = larger;
	larger[homes->count] = strdup(path);
	return larger[homes->count++] ? 0 : -ENOMEM;
}

static int refuse_home(struct failure *failure, const char *path)
{
	return refuse(failure, "is or contains the home directory", path);
}

/* By its name, for a home whose file system is unresponsive. */
static bool contains_name(int fd, const char *home)
{
	char link[64], path[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return true;
	path[length] = '\0';
	return strncmp(home, path, (size_t)length) == 0 &&
	       (home[length] == '/' || home[length] == '\0');
}

/* A process that writes a byte for each home: whether the directory contains it. */
static int start_looking(const struct question *q, const struct homes *homes, size_t from,
			 pid_t *ret_pid)
{
	struct question own = *q;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*ret_pid = fork();
	if (*ret_pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(EXIT_FAILURE);
		for (; from < homes->count; from++) {
			char found = (char)(contains_path(&own, homes->paths[from]) > 0);

			if (write(ends[1], &found, 1) != 1)
				break;
		}
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	if (*ret_pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	return ends[0];
}

/* Returns the index of the first home that is contained or silent, or the count. */
static size_t look_at_homes(const struct question *q, const struct homes *homes, size_t from,
			    bool *ret_found)
{
	pid_t pid = -1;
	_cleanup_(closep) int fd = start_looking(q, homes, from, &pid);
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char found = 0;

	while (fd >= 0 && from < homes->count && !found && poll(&ready, 1, HOME_MSEC) > 0 &&
	       read(fd, &found, 1) == 1)
		from += !found;
	if (pid > 0) {
		(void)kill(pid, SIGKILL);
		/* It may wait for an unresponsive file system, and outlive this process. */
		(void)waitpid(pid, NULL, WNOHANG);
	}
	*ret_found = found;
	return from;
}

/* Waits for file systems, but not for unresponsive ones. */
static int check_uncached_homes(int fd, const struct question *q, const struct homes *homes,
				struct failure *failure)
{
	size_t at = 0;

	for (unsigned int silent = 0; at < homes->count; at++) {
		bool found = false;

		if (silent < SILENT_HOMES_MAX)
			at = look_at_homes(q, homes, at, &found);
		if (at < homes->count && (found || contains_name(fd, homes->paths[at])))
			return refuse_home(failure, homes->paths[at]);
		silent++;
	}
	return 0;
}

static int check_homes(int fd, struct question *q, const char *passwd, struct failure *failure)
{
	_cleanup_(homes_release) struct homes homes = {};
	_cleanup_(freep) char *text = NULL;
	_cleanup_(fclosep) FILE *users = NULL;
	const struct passwd *user;
	bool cached = q->cached;
	size_t size = 0;
	int r = io_read_file(AT_FDCWD, passwd, PASSWD_MAX, &text, &size);

	/* From memory: fgetpwent(3) asks the kernel twice for each line where it is in a file. */
	if (r == 0)
		users = fmemopen(text, size, "r");
	if (!users)
		return failure_set(failure, r < 0 ? r : errno,
				   "cannot read %s for home directories: %m", passwd);
	q->cached = true;
	while ((user = fgetpwent(users)) != NULL) {
		/* System directories were asked about already. */
		if (user->pw_dir[0] != '/' || is_listed(system_directories, user->pw_dir))
			continue;
		r = contains_path(q, user->pw_dir);
		if (r > 0)
			return refuse_home(failure, user->pw_dir);
		if (r == -EAGAIN && cached)
			return uncached(failure);
		if (r == -EAGAIN && homes_add(&homes, user->pw_dir) < 0)
			return failure_set(failure, ENOMEM, "%m");
	}
	q->cached = false;
	return check_uncached_homes(fd, q, &homes, failure);
}

/* -EPERM: it is or contains one of the paths; -EAGAIN. */
static int check_paths(struct question *q, const char *const *paths, bool system,
		       const char *relation, struct failure *failure)
{
	for (size_t i = 0; paths[i]; i++) {
		int r = contains_path(q, paths[i]);

		if (r < 0)
			return uncached(failure);
		if (r > 0)
			return refuse(failure, relation, paths[i]);
		if (system)
			q->system = i + 1;
	}
	return 0;
}

int workdir_check(int fd, bool cached, const char *passwd, const char *const *own,
		  struct failure *failure)
{
	struct question question = {.cached = cached};
	struct statx directory;
	int r;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &directory) <
	    0)
		return failure_set(failure, errno, "cannot examine the work directory: %m");
	if (!S_ISDIR(directory.stx_mode))
		return failure_set(failure, ENOTDIR, "the work directory is not a directory");
	question.device = makedev(directory.stx_dev_major, directory.stx_dev_minor);
	question.inode = directory.stx_ino;
	(void)((r = check_paths(&question, system_directories, true,
				"is or contains the system directory", failure)) < 0 ||
	       (r = check_paths(&question, own, false, "is or contains cordon's own directory",
				failure)) < 0 ||
	       (r = check_closed(fd, cached, own, failure)) < 0 ||
	       (r = check_homes(fd, &question, passwd, failure)) < 0);
	return r;
}
