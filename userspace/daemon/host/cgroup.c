/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroups (v2) of executions: MOUNT/cordon/ID each. */
#include "daemon/host/cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/proc.h"
#include "daemon/host/process.h"
#include "control/protocol.h"

#define CGROUP_FILE_MAX	 (1u << 20)
#define CGROUP_MAX_DEPTH 64
#define MOUNTINFO_MAX	 (16u << 20)
#define CPU_PERIOD_USEC	 100000u
#define NSEC_PER_USEC	 1000u
#define DISKS_MAX	 256u
#define DISK_NUMBER_SIZE 32
#define IO_SIZE		 128

static const char *const controller_names[CGROUP_CONTROLLER_COUNT] = {
	[CGROUP_MEMORY] = "memory",   [CGROUP_PIDS] = "pids", [CGROUP_CPU] = "cpu",
	[CGROUP_HUGETLB] = "hugetlb", [CGROUP_IO] = "io",
};

/* mountinfo writes blanks and backslashes as \ooo. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		unsigned int code;

		if (in[0] == '\\' && sscanf(in + 1, "%3o", &code) == 1) {
			*out++ = (char)code;
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

int cgroup_mount_point(const char *mountinfo, char **ret_path)
{
	_cleanup_(freep) char *copy = strdup(mountinfo);
	char *save = NULL;

	if (!copy)
		return -ENOMEM;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		_cleanup_(freep) char *point = NULL;
		char *type = strstr(line, " - ");

		if (!type || strncmp(type, " - cgroup2 ", 11) != 0)
			continue;
		if (sscanf(line, "%*s %*s %*s %*s %ms", &point) != 1)
			continue;
		unescape(point);
		*ret_path = TAKE_PTR(point);
		return 0;
	}
	return -ENOENT;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
		if ((at == text || at[-1] == ' ') &&
		    (at[length] == '\0' || at[length] == ' ' || at[length] == '\n'))
			return true;
	return false;
}

static bool file_has_word(int dir_fd, const char *file, const char *word)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	return io_read_file(dir_fd, file, CGROUP_FILE_MAX, &text, &size) == 0 &&
	       has_word(text, word);
}

/* Makes a controller usable in the children of the cgroup behind `fd`. */
static bool enable_controller(int fd, const char *name)
{
	char request[16];

	if (file_has_word(fd, "cgroup.subtree_control", name))
		return true;
	if (!file_has_word(fd, "cgroup.controllers", name))
		return false;
	snprintf(request, sizeof(request), "+%s", name);
	return io_write_file(fd, "cgroup.subtree_control", request) >= 0;
}

static int find_mount_point(char **ret_path, struct failure *failure)
{
	_cleanup_(freep) char *mountinfo = NULL;
	size_t size;
	int r;

	r = io_read_file(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &mountinfo, &size);
	if (r < 0)
		return failure_set(failure, r, "cannot read /proc/self/mountinfo: %m");
	r = cgroup_mount_point(mountinfo, ret_path);
	if (r < 0)
		return failure_set(failure, r,
				   "no cgroup2 file system is mounted; mount one with: "
				   "mount -t cgroup2 none /sys/fs/cgroup");
	return 0;
}

int cgroup_tree_open(const char *mount_point, struct cgroup_tree *ret_tree, struct failure *failure)
{
	_cleanup_(freep) char *found = NULL, *path = NULL;
	_cleanup_(closep) int mount_fd = -1, fd = -1;
	struct cgroup_tree tree = {};
	int r;

	if (!mount_point) {
		r = find_mount_point(&found, failure);
		if (r < 0)
			return r;
		mount_point = found;
	}
	mount_fd = open(mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return failure_set(failure, errno, "cannot open %s: %m", mount_point);
	if (asprintf(&path, "%s/%s", mount_point, CGROUP_TREE_NAME) < 0)
		return failure_set(failure, ENOMEM, "%m");
	if (mkdirat(mount_fd, CGROUP_TREE_NAME, 0755) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot make the cgroup %s: %m", path);
	fd = openat(mount_fd, CGROUP_TREE_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open the cgroup %s: %m", path);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
		tree.available[i] = i != CGROUP_IO &&
				    enable_controller(mount_fd, controller_names[i]) &&
				    enable_controller(fd, controller_names[i]);
	tree.fd = TAKE_FD(fd);
	tree.path = TAKE_PTR(path);
	*ret_tree = tree;
	return 0;
}

void cgroup_tree_close(struct cgroup_tree *tree)
{
	closep(&tree->fd);
	free(tree->path);
	*tree = (struct cgroup_tree){.fd = -1};
}

/* --- one cgroup --------------------------------------------------------------------------- */

/* A limit that a host without the controller cannot apply is said, not passed over. */
static int note_missing(char **missing, const char *text)
{
	size_t n = 0;

	while (missing[n])
		n++;
	missing[n] = strdup(text);
	return missing[n] ? 0 : -ENOMEM;
}

static int apply(int fd, const char *file, const char *value, struct failure *failure)
{
	int r = io_write_file(fd, file, value);

	if (r < 0)
		return failure_set(failure, r, "the kernel refuses \"%s\" for %s: %m", value, file);
	return 0;
}

/*
 * The memory controller does not count pages of a host's pool of huge ones: an execution under a
 * limit gets none, neither by mapping nor by reserving them. Sizes are the kernel's
 * ("hugetlb.2MB.max").
 */
static int refuse_huge_pages(int fd, struct failure *failure)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r = io_open_directory(fd, ".", &dir);

	if (r < 0)
		return failure_set(failure, r, "cannot list the cgroup: %m");
	while (r == 0 && (entry = readdir(dir)) != NULL) {
		size_t length = strlen(entry->d_name);

		if (strncmp(entry->d_name, "hugetlb.", 8) == 0 && length > 4 &&
		    strcmp(entry->d_name + length - 4, ".max") == 0)
			r = apply(fd, entry->d_name, "0", failure);
	}
	return r;
}

static int limit_huge_pages(struct cgroup_tree *tree, int fd, char **missing,
			    struct failure *failure)
{
	if (tree->available[CGROUP_HUGETLB])
		return refuse_huge_pages(fd, failure);
	return note_missing(missing, "huge pages: no controller");
}

static bool read_number(int fd, const char *file, uint64_t *ret_value)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	return io_read_file(fd, file, CGROUP_FILE_MAX, &text, &size) == 0 &&
	       sscanf(text, "%" SCNu64, ret_value) == 1;
}

/* "8:0" of a disk that holds something; -ENODATA: it is empty, as loop devices are. */
static int disk_number(int block_fd, const char *name, char number[DISK_NUMBER_SIZE])
{
	_cleanup_(closep) int fd = openat(block_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(freep) char *text = NULL;
	uint64_t sectors;
	size_t size;
	int r;

	if (fd < 0)
		return -errno;
	if (!read_number(fd, "size", &sectors) || sectors == 0)
		return -ENODATA;
	r = io_read_file(fd, "dev", CGROUP_FILE_MAX, &text, &size);
	if (r < 0)
		return r;
	text[strcspn(text, "\n")] = '\0';
	snprintf(number, DISK_NUMBER_SIZE, "%s", text);
	return 0;
}

/* Once a limit needs it: it costs each access to a disk something, on the whole host. */
static bool enable_io(struct cgroup_tree *tree)
{
	_cleanup_(closep) int above = -1;

	if (tree->available[CGROUP_IO])
		return true;
	above = openat(tree->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tree->available[CGROUP_IO] = above >= 0 &&
				     enable_controller(above, controller_names[CGROUP_IO]) &&
				     enable_controller(tree->fd, controller_names[CGROUP_IO]);
	return tree->available[CGROUP_IO];
}

static void format_io(const char *number, const struct policy_limits *limits, char text[IO_SIZE])
{
	char read[24] = "max", write[24] = "max";

	if (limits->io_read_bytes > 0)
		snprintf(read, sizeof(read), "%" PRIu64, limits->io_read_bytes);
	if (limits->io_write_bytes > 0)
		snprintf(write, sizeof(write), "%" PRIu64, limits->io_write_bytes);
	snprintf(text, IO_SIZE, "%s rbps=%s wbps=%s", number, read, write);
}

/*
 * The kernel has a limit for each disk. Disks that are added later have none, and neither has what
 * is on another machine.
 */
static int limit_io(int fd, const struct policy_limits *limits, char **missing,
		    struct failure *failure)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	unsigned int disks = 0;
	struct dirent *entry;
	int r = io_open_directory(AT_FDCWD, "/sys/block", &dir);

	if (r < 0)
		return note_missing(missing, "io: no disks");
	if (faccessat(fd, "io.max", W_OK, 0) < 0)
		return note_missing(missing, "io: no io.max");
	while (r == 0 && (entry = readdir(dir)) != NULL) {
		char number[DISK_NUMBER_SIZE], text[IO_SIZE];

		if (entry->d_name[0] == '.' || disk_number(dirfd(dir), entry->d_name, number) < 0)
			continue;
		if (disks++ == DISKS_MAX)
			return note_missing(missing, "io: too many disks");
		format_io(number, limits, text);
		r = apply(fd, "io.max", text, failure);
		/* It is gone, or has no queue of its own. */
		if (r == -ENODEV || r == -EOPNOTSUPP)
			r = 0;
	}
	return r;
}

static int apply_limits(struct cgroup_tree *tree, int fd, const struct policy_limits *limits,
			char **missing, struct failure *failure)
{
	char text[64];
	int r = 0;

	if (limits->memory_bytes > 0 && tree->available[CGROUP_MEMORY]) {
		snprintf(text, sizeof(text), "%" PRIu64, limits->memory_bytes);
		r = apply(fd, "memory.max", text, failure);
		/* The whole execution goes, not its one process that asked last. */
		if (r == 0)
			r = apply(fd, "memory.oom.group", "1", failure);
		/* Absent where the kernel does not account for swap. */
		if (r == 0)
			(void)io_write_file(fd, "memory.swap.max", "0");
	} else if (limits->memory_bytes > 0) {
		r = note_missing(missing, "memory: no controller");
	}
	if (r == 0 && limits->memory_bytes > 0)
		r = limit_huge_pages(tree, fd, missing, failure);
	if (r == 0 && limits->pids > 0 && tree->available[CGROUP_PIDS]) {
		snprintf(text, sizeof(text), "%" PRIu64, limits->pids);
		r = apply(fd, "pids.max", text, failure);
	} else if (r == 0 && limits->pids > 0) {
		r = note_missing(missing, "pids: no controller");
	}
	if (r == 0 && limits->cpu_percent > 0 && tree->available[CGROUP_CPU]) {
		snprintf(text, sizeof(text), "%" PRIu64 " %u",
			 limits->cpu_percent * (CPU_PERIOD_USEC / 100), CPU_PERIOD_USEC);
		r = apply(fd, "cpu.max", text, failure);
	} else if (r == 0 && limits->cpu_percent > 0) {
		r = note_missing(missing, "cpu: no controller");
	}
	if (r == 0 && (limits->io_read_bytes > 0 || limits->io_write_bytes > 0))
		r = enable_io(tree) ? limit_io(fd, limits, missing, failure)
				    : note_missing(missing, "io: no controller");
	return r;
}

int cgroup_create(struct cgroup_tree *tree, const char *name, const struct policy_limits *limits,
		  int *ret_fd, char ***ret_missing, struct failure *failure)
{
	_cleanup_(protocol_strings_freep) char **missing =
		calloc(CGROUP_CONTROLLER_COUNT + 1, sizeof(*missing));
	_cleanup_(closep) int fd = -1;
	int r;

	if (!missing)
		return failure_set(failure, ENOMEM, "%m");
	if (mkdirat(tree->fd, name, 0755) < 0)
		return failure_set(failure, errno, "cannot make the cgroup %s/%s: %m", tree->path,
				   name);
	fd = openat(tree->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 ? failure_set(failure, errno, "cannot open the cgroup %s/%s: %m", tree->path,
				 name)
		   : apply_limits(tree, fd, limits, missing, failure);
	if (r < 0) {
		unlinkat(tree->fd, name, AT_REMOVEDIR);
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	*ret_missing = TAKE_PTR(missing);
	return 0;
}

int cgroup_enter(int fd, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return io_write_file(fd, "cgroup.procs", text);
}

static void give_back(const struct cgroup_tree *tree, pid_t pid)
{
	_cleanup_(freep) char *cgroup = NULL, *path = NULL;
	struct process_status status;
	char text[16];

	if (process_status(pid, &status) < 0)
		return;
	/* The tree is a directory below the mount point. */
	if (proc_cgroup(status.parent, &cgroup) < 0 ||
	    asprintf(&path, "%.*s%s/cgroup.procs",
		     (int)(strlen(tree->path) - strlen("/" CGROUP_TREE_NAME)), tree->path,
		     cgroup) < 0)
		return;
	snprintf(text, sizeof(text), "%d", pid);
	(void)io_write_file(AT_FDCWD, path, text);
}

void cgroup_give_back(const struct cgroup_tree *tree, int fd)
{
	/* What was moved may have forked meanwhile: until nobody is left. */
	for (int i = 0; i < 8; i++) {
		_cleanup_(freep) char *text = NULL;
		size_t size;

		if (io_read_file(fd, "cgroup.procs", CGROUP_FILE_MAX, &text, &size) < 0 ||
		    size == 0)
			return;
		for (char *line = text; *line; line = strchrnul(line, '\n'), line += *line != '\0')
			give_back(tree, (pid_t)strtol(line, NULL, 10));
	}
}

int cgroup_let_kill(int fd, uid_t uid)
{
	return fchownat(fd, "cgroup.kill", uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int cgroup_kill(int fd)
{
	return io_write_file(fd, "cgroup.kill", "1");
}

/* The number behind `key` in a "key value" file. */
static bool keyed_number(const char *text, const char *key, uint64_t *ret_value)
{
	size_t length = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return sscanf(line + length, "%" SCNu64, ret_value) == 1;
	}
	return false;
}

int cgroup_populated(int fd)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t populated;
	size_t size;
	int r;

	r = io_read_file(fd, "cgroup.events", CGROUP_FILE_MAX, &text, &size);
	if (r < 0)
		return r;
	if (!keyed_number(text, "populated", &populated))
		return -EBADMSG;
	return populated > 0;
}

int cgroup_process_count(int fd, uint64_t *ret_count)
{
	_cleanup_(freep) char *text = NULL;
	uint64_t count = 0;
	size_t size;
	int r;

	r = io_read_file(fd, "cgroup.procs", CGROUP_FILE_MAX, &text, &size);
	if (r < 0)
		return r;
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	*ret_count = count;
	return 0;
}

void cgroup_usage(int fd, struct cgroup_usage *ret_usage)
{
	_cleanup_(freep) char *cpu = NULL, *memory = NULL, *pids = NULL;
	struct cgroup_usage usage = {};
	size_t size;

	/* cpu.stat's times are there without a controller, too. */
	if (io_read_file(fd, "cpu.stat", CGROUP_FILE_MAX, &cpu, &size) == 0 &&
	    keyed_number(cpu, "user_usec", &usage.user_nsec) &&
	    keyed_number(cpu, "system_usec", &usage.system_nsec)) {
		usage.user_nsec *= NSEC_PER_USEC;
		usage.system_nsec *= NSEC_PER_USEC;
		usage.have_cpu = true;
	}
	usage.have_memory = read_number(fd, "memory.peak", &usage.memory_peak_bytes) &&
			    io_read_file(fd, "memory.events", CGROUP_FILE_MAX, &memory, &size) ==
				    0 &&
			    keyed_number(memory, "oom_kill", &usage.oom_kills);
	usage.have_pids = read_number(fd, "pids.peak", &usage.pids_peak);
	if (io_read_file(fd, "pids.events", CGROUP_FILE_MAX, &pids, &size) == 0)
		(void)keyed_number(pids, "max", &usage.pids_refused);
	*ret_usage = usage;
}

void cgroup_use(int fd, struct cgroup_use *ret_use)
{
	_cleanup_(freep) char *cpu = NULL;
	struct cgroup_use use = {};
	size_t size;

	use.have_cpu = io_read_file(fd, "cpu.stat", CGROUP_FILE_MAX, &cpu, &size) == 0 &&
		       keyed_number(cpu, "usage_usec", &use.cpu_nsec);
	use.cpu_nsec *= NSEC_PER_USEC;
	use.have_memory = read_number(fd, "memory.current", &use.memory_bytes);
	use.have_pids = read_number(fd, "pids.current", &use.pids);
	*ret_use = use;
}

static int remove_below(int parent_fd, const char *name, int depth)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r;

	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	/* EBUSY stands for tasks as well as for cgroups below. */
	if (errno != EBUSY)
		return -errno;
	if (depth == CGROUP_MAX_DEPTH)
		return -ELOOP;
	r = io_open_directory(parent_fd, name, &dir);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		r = remove_below(dirfd(dir), entry->d_name, depth + 1);
		if (r < 0)
			return r;
	}
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int cgroup_remove(struct cgroup_tree *tree, const char *name)
{
	return remove_below(tree->fd, name, 0);
}

int cgroup_for_each(struct cgroup_tree *tree, int (*visit)(const char *name, void *context),
		    void *context)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r = io_open_directory(tree->fd, ".", &dir);

	while (r == 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			r = visit(entry->d_name, context);
	}
	return r;
}
