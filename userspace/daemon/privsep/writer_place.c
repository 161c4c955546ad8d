/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directory that a log's writer is given, and holds it. */
#include "daemon/privsep/writer_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/privsep/writer_directory.h"

#define CACHED_TRIES 3

void writer_place_release(struct writer_place *place)
{
	closep(&place->fd);
	*place = WRITER_PLACE_NONE;
}

int writer_place_find(const char *directory, uid_t uid, gid_t gid, struct writer_place *ret_place,
		      struct failure *failure)
{
	_cleanup_(closep) int fd = writer_directory_open(directory, uid, gid, failure);
	struct stat status;
	int place;

	if (fd < 0)
		return TAKE_FD(fd);
	place = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place < 0 || fstat(fd, &status) < 0) {
		int r = failure_set(failure, errno, "cannot examine %s: %m", directory);

		closep(&place);
		return r;
	}
	*ret_place =
		(struct writer_place){.fd = place, .device = status.st_dev, .inode = status.st_ino};
	return 0;
}

int writer_place_is(const struct writer_place *place, const char *directory)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_CACHED};
	_cleanup_(closep) int fd = -1;
	struct statx found;

	/* A rename or a mount anywhere at the same time is reason enough for it to give up. */
	for (int i = 0; fd < 0 && i < CACHED_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, AT_FDCWD, directory, &how, sizeof(how));
		if (fd < 0 && errno != EAGAIN)
			break;
	}
	if (fd < 0)
		return errno == EAGAIN ? -EAGAIN : 0;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &found) < 0)
		return 0;
	return makedev(found.stx_dev_major, found.stx_dev_minor) == place->device &&
	       found.stx_ino == place->inode;
}

bool writer_place_is_now(const struct writer_place *place, const char *directory)
{
	struct stat found;

	return stat(directory, &found) == 0 && found.st_dev == place->device &&
	       found.st_ino == place->inode;
}

void writer_place_write(const struct writer_place *place, const char *directory, FILE *to)
{
	fprintf(to, "%" PRIu64 " %" PRIu64 " %s", (uint64_t)place->device, (uint64_t)place->inode,
		directory);
}

int writer_place_parse(const char *data, size_t size, struct writer_place *ret_place,
		       char **ret_directory)
{
	_cleanup_(freep) char *text = malloc(size + 1);
	uint64_t device, inode;
	int at = 0;

	if (!text)
		return -ENOMEM;
	memcpy(text, data, size);
	text[size] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %n", &device, &inode, &at) != 2 ||
	    text[at] != '/')
		return -EPROTO;
	*ret_directory = strdup(text + at);
	if (!*ret_directory)
		return -ENOMEM;
	*ret_place = (struct writer_place){.fd = -1, .device = device, .inode = inode};
	return 0;
}
