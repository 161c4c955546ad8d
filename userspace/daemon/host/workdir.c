/* SPDX-License-Identifier: Apache-2.0 */
/* Which directories may become an execution's ${workdir}, and so be opened to agent code. */
#include "daemon/host/workdir.h"

#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/listed.h"

#define PASSWD_MAX (16u << 20)
/* Deeper ones have no name that a call takes. */
#define DEPTH_MAX (PATH_MAX / 2)
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

/* Of a climb that goes on. STEP_CLEAR: nothing that is looked for lies further up. */
enum step { STEP_ON, STEP_FOUND, STEP_CLEAR, STEP_LINK, STEP_NOWHERE };

typedef enum step (*judge_place)(void *context, const struct place *place);

static bool same_place(const struct place *a, const struct place *b)
{
	return a->inode == b->inode && a->device == b->device && a->mount == b->mount;
}

/*
 * Whoever may not answer is not asked: a server, an automounter. `flags`: AT_SYMLINK_NOFOLLOW
 * or none.
 */
static enum step look_at(int fd, const char *name, int flags, struct place *ret_place)
{
	struct statx st;

	if (statx(fd, name, AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | flags,
		  STATX_TYPE | STATX_INO | STATX_MNT_ID, &st) < 0)
		return STEP_NOWHERE;
	if (S_ISLNK(st.stx_mode))
		return STEP_LINK;
	*ret_place = (struct place){st.stx_mnt_id, makedev(st.stx_dev_major, st.stx_dev_minor),
				    st.stx_ino};
	return STEP_ON;
}

/*
 * From the directory that is open to the root, whose parent is itself, by "..", so that names play
 * no part, and one step at a time: whoever asks chooses how deep it lies.
 */
static enum step climb(int inner_fd, judge_place judge, void *context)
{
	_cleanup_(closep) int fd = openat(inner_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct place here, below = {};

	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		enum step step = fd < 0 ? STEP_NOWHERE
					: look_at(fd, "", AT_SYMLINK_NOFOLLOW, &here);
		int parent;

		if (step == STEP_ON && depth > 0 && same_place(&here, &below))
			return STEP_CLEAR;
		if (step == STEP_ON)
			step = judge(context, &here);
		if (step != STEP_ON)
			return step;
		below = here;
		parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
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
		enum step step = look_at(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, &place);

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
	if (look_at(AT_FDCWD, name, 0, &place) == STEP_ON) {
		enum step step = judge_above(q, &place);

		if (step != STEP_ON)
			return step;
	}
	fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? STEP_NOWHERE : climb(fd, judge_above, q);
}

/*
 * Does the name lead to the directory, or to something in it? What cannot be looked at does not
 * exist for anybody.
 */
static bool contains_path(struct question *q, const char *path)
{
	enum step step = climb_path(q, path);

	if (step == STEP_CLEAR)
		q->clear = q->count;
	else
		q->count = q->clear;
	return step == STEP_FOUND;
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

static int climb_closed(int fd, struct closed *closed, struct failure *failure)
{
	closed->found = closed->count;
	if (climb(fd, judge_below, closed) != STEP_FOUND)
		return 0;
	if (closed->found == closed->count)
		return refuse(failure, "lies deeper than", "anybody climbs");
	return refuse(failure, closed->trees[closed->found].relation,
		      closed->trees[closed->found].path);
}

int workdir_check_log(int fd, const char *path, dev_t device, ino_t inode, struct failure *failure)
{
	struct closed closed = {.count = 1};

	closed.trees[0].relation = OWN_RELATION;
	closed.trees[0].path = path;
	closed.trees[0].device = device;
	closed.trees[0].inode = inode;
	return climb_closed(fd, &closed, failure);
}

static int check_closed(int fd, const char *const *own, struct failure *failure)
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
	return climb_closed(fd, &closed, failure);
}

static int check_homes(struct question *q, const char *passwd, struct failure *failure)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(fclosep) FILE *users = NULL;
	const struct passwd *user;
	size_t size = 0;
	int r = io_read_file(AT_FDCWD, passwd, PASSWD_MAX, &text, &size);

	/* From memory: fgetpwent(3) asks the kernel twice for each line where it is in a file. */
	if (r == 0)
		users = fmemopen(text, size, "r");
	if (!users)
		return failure_set(failure, r < 0 ? r : errno,
				   "cannot read %s for home directories: %m", passwd);
	while ((user = fgetpwent(users)) != NULL) {
		/* System directories were asked about already. */
		if (user->pw_dir[0] != '/' || is_listed(system_directories, user->pw_dir) ||
		    !contains_path(q, user->pw_dir))
			continue;
		return refuse(failure, "is or contains the home directory", user->pw_dir);
	}
	return 0;
}

int workdir_check(int fd, const char *passwd, const char *const *own, struct failure *failure)
{
	struct question question = {};
	struct stat directory;
	int r;

	if (fstat(fd, &directory) < 0)
		return failure_set(failure, errno, "cannot examine the work directory: %m");
	if (!S_ISDIR(directory.st_mode))
		return failure_set(failure, ENOTDIR, "the work directory is not a directory");
	question.device = directory.st_dev;
	question.inode = directory.st_ino;
	for (size_t i = 0; system_directories[i]; question.system = ++i)
		if (contains_path(&question, system_directories[i]))
			return refuse(failure, "is or contains the system directory",
				      system_directories[i]);
	for (const char *const *path = own; *path; path++)
		if (contains_path(&question, *path))
			return refuse(failure, "is or contains cordon's own directory", *path);
	r = check_closed(fd, own, failure);
	return r < 0 ? r : check_homes(&question, passwd, failure);
}
