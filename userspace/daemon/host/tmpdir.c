/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary directory of an execution, behind ${tmp}. */
#include "daemon/host/tmpdir.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/io.h"

int tmpdir_create(const char *parent, const char *name, uid_t uid, gid_t gid, int *ret_fd,
		  struct failure *failure)
{
	_cleanup_(closep) int parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int fd = -1;
	struct stat made;

	if (parent_fd < 0)
		return failure_set(failure, errno, "cannot open %s: %m", parent);
	if (mkdirat(parent_fd, name, 0700) < 0)
		return failure_set(failure, errno, "cannot make the directory %s/%s: %m", parent,
				   name);
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &made) < 0) {
		int r = failure_set(failure, errno, "cannot open %s/%s: %m", parent, name);

		/* Empty, and of no use. */
		unlinkat(parent_fd, name, AT_REMOVEDIR);
		return r;
	}
	/* A parent without the sticky bit would let somebody put another directory in its place. */
	if (made.st_uid != geteuid())
		return failure_set(failure, EPERM,
				   "%s/%s was replaced while it was made; %s must "
				   "have the sticky bit",
				   parent, name, parent);
	if (fchown(fd, uid, gid) < 0) {
		int r = failure_set(failure, errno, "cannot give %s/%s to uid %u: %m", parent, name,
				    uid);

		unlinkat(parent_fd, name, AT_REMOVEDIR);
		return r;
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

struct removal {
	int top_fd;
	unsigned int budget;
	uint64_t moved; /* names given to directories that were moved up */
};

static int open_inside(int dir_fd, const char *name)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));

	/* A mount point answers EXDEV; what is mounted there is not ours to remove. */
	if (fd < 0)
		return errno == EXDEV ? -EBUSY : -errno;
	return fd;
}

/* Unlinks a file or an empty directory. -ENOTEMPTY: a directory that holds something. */
static int unlink_entry(int dir_fd, const char *name)
{
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errno == EEXIST ? -ENOTEMPTY : -errno;
}

static int move_up(struct removal *removal, int dir_fd, const char *name)
{
	char fresh[40];

	for (;;) {
		snprintf(fresh, sizeof(fresh), ".cordon-removed-%" PRIu64, removal->moved++);
		if (renameat2(dir_fd, name, removal->top_fd, fresh, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
}

typedef int (*entry_handler)(struct removal *removal, int dir_fd, const char *name);

/* Handles each entry of a directory while the budget lasts. */
static int for_each_entry(struct removal *removal, int dir_fd, entry_handler handle)
{
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int r = io_open_directory(dir_fd, ".", &dir);

	if (r < 0)
		return r;
	errno = 0;
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (removal->budget == 0)
			return -EAGAIN;
		removal->budget--;
		r = handle(removal, dir_fd, entry->d_name);
		if (r < 0)
			return r;
		errno = 0;
	}
	return -errno;
}

/*
 * Below the second level directories move up to the first: depth costs neither stack nor
 * descriptors.
 */
static int remove_or_move_up(struct removal *removal, int dir_fd, const char *name)
{
	int r = unlink_entry(dir_fd, name);

	return r == -ENOTEMPTY ? move_up(removal, dir_fd, name) : r;
}

static int remove_first_level(struct removal *removal, int dir_fd, const char *name)
{
	_cleanup_(closep) int fd = -1;
	int r = unlink_entry(dir_fd, name);

	if (r != -ENOTEMPTY)
		return r;
	fd = open_inside(dir_fd, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = for_each_entry(removal, fd, remove_or_move_up);
	if (r < 0)
		return r;
	r = unlink_entry(dir_fd, name);
	/* readdir may skip entries of a directory that shrinks: the next pass sees them. */
	return r == -ENOTEMPTY ? 0 : r;
}

int tmpdir_remove(const char *parent, const char *name, unsigned int budget)
{
	_cleanup_(closep) int parent_fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int top_fd = -1;
	struct removal removal = {.budget = budget};
	int r;

	if (parent_fd < 0)
		return -errno;
	top_fd = open_inside(parent_fd, name);
	if (top_fd < 0)
		return top_fd == -ENOENT ? 0 : top_fd;
	removal.top_fd = top_fd;
	/* Whoever owned it puts nothing new there. */
	(void)fchown(top_fd, geteuid(), (gid_t)-1);
	(void)fchmod(top_fd, 0700);
	/* Names that nobody can have taken beforehand. */
	if (getrandom(&removal.moved, sizeof(removal.moved), 0) < 0)
		return -errno;
	for (;;) {
		unsigned int before = removal.budget;

		r = for_each_entry(&removal, top_fd, remove_first_level);
		if (r < 0)
			return r;
		if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		/* Full, yet nothing to be seen: a pass more would be the same. */
		if ((errno != ENOTEMPTY && errno != EEXIST) || removal.budget == before)
			return -errno;
	}
}
