/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/segment.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/chain.h"

static const char advice_tail[] =
	"run `cordon log verify`, then move the log away: the next start begins a new one";

static int open_directory(const char *directory, struct failure *failure)
{
	int fd;

	if (mkdir(directory, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno,
				   "cannot create the log directory %s: %m; create its parent, or "
				   "name another directory",
				   directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failure_set(failure, errno,
				   "cannot open the log directory %s: %m; name a directory",
				   directory);
	return fd;
}

static int open_regular(int directory_fd, const char *directory, const char *name, int flags,
			struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	struct stat status;

	fd = openat(directory_fd, name, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s/%s for writing: %m%s", directory,
				   name,
				   errno == ELOOP ? "; it is a symbolic link: remove it" : "");
	if (fstat(fd, &status) < 0)
		return failure_set(failure, errno, "cannot look at %s/%s: %m", directory, name);
	if (!S_ISREG(status.st_mode))
		return failure_set(failure, EBADMSG,
				   "%s/%s is not a regular file: remove it, or name another log "
				   "directory",
				   directory, name);
	return TAKE_FD(fd);
}

static int take_lock(int fd, const char *directory, struct failure *failure)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return failure_set(failure, EWOULDBLOCK,
				   "another cordon writes the log in %s; stop it, or name another "
				   "log directory",
				   directory);
	return failure_set(failure, errno, "cannot lock %s/%s: %m", directory, SEGMENT_LOCK);
}

/* The end of the file: enough to hold its last two whole lines and what is behind them. */
struct ending {
	char *data;
	size_t size;
	bool whole_file;
};

static int read_ending(int fd, uint64_t file_size, size_t window, struct ending *ret)
{
	size_t size = file_size < window ? (size_t)file_size : window;
	_cleanup_(freep) char *data = malloc(size + 1);
	size_t done = 0;

	if (!data)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)(file_size - size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO; /* shorter than a moment ago, with the lock held */
		done += (size_t)n;
	}
	ret->data = TAKE_PTR(data);
	ret->size = size;
	ret->whole_file = size == file_size;
	return 0;
}

/* Where the line begins that ends before `end`; false: before the window. */
static bool line_start(const struct ending *ending, size_t end, size_t *ret)
{
	const char *newline = end > 0 ? memrchr(ending->data, '\n', end) : NULL;

	if (!newline && !ending->whole_file)
		return false;
	*ret = newline ? (size_t)(newline + 1 - ending->data) : 0;
	return true;
}

/* Takes over sequence and chain of the last line, if it follows from the line before it. */
static int adopt_last_line(struct segment *segment, const struct ending *ending, size_t start,
			   size_t end)
{
	unsigned char previous[SHA256_SIZE] = {0}, claimed[SHA256_SIZE], computed[SHA256_SIZE];
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	size_t body, before_start, before_body;
	uint64_t sequence, before_sequence = 0;
	int r;

	if (!hash)
		return -ENOMEM;
	r = chain_split(ending->data + start, end - start, &body, &sequence, claimed);
	if (r < 0)
		return r;
	if (start > 0) {
		if (!line_start(ending, start - 1, &before_start))
			return -EBADMSG;
		r = chain_split(ending->data + before_start, start - 1 - before_start, &before_body,
				&before_sequence, previous);
		if (r < 0)
			return r;
	}
	r = chain_digest(hash, previous, ending->data + start, body, computed);
	if (r < 0)
		return r;
	if (memcmp(claimed, computed, sizeof(claimed)) != 0 || sequence != before_sequence + 1)
		return -EBADMSG;
	segment->sequence = sequence;
	memcpy(segment->chain, claimed, sizeof(claimed));
	return 0;
}

/* 0: done; 1: the window is too small to tell. */
static int examine(struct segment *segment, const struct ending *ending, uint64_t file_size)
{
	const char *newline = memrchr(ending->data, '\n', ending->size);
	size_t end, start, before, torn;

	if (!newline && !ending->whole_file)
		return 1;
	end = newline ? (size_t)(newline - ending->data) : 0;
	torn = newline ? ending->size - end - 1 : ending->size;
	if (newline) {
		int r;

		if (!line_start(ending, end, &start) ||
		    (start > 0 && !line_start(ending, start - 1, &before)))
			return 1;
		r = adopt_last_line(segment, ending, start, end);
		if (r < 0)
			return r;
	}
	if (torn > 0 && ftruncate(segment->fd, (off_t)(file_size - torn)) < 0)
		return -errno;
	segment->repaired = torn;
	return 0;
}

static int resume(struct segment *segment, const char *directory, struct failure *failure)
{
	struct stat status;
	int r;

	if (fstat(segment->fd, &status) < 0)
		return failure_set(failure, errno, "cannot look at %s/%s: %m", directory,
				   SEGMENT_NAME);
	for (size_t window = 1u << 16; status.st_size > 0; window *= 2) {
		_cleanup_(freep) char *data = NULL;
		struct ending ending;

		r = read_ending(segment->fd, (uint64_t)status.st_size, window, &ending);
		if (r < 0)
			return failure_set(failure, r, "cannot read %s/%s: %m", directory,
					   SEGMENT_NAME);
		data = ending.data;
		r = examine(segment, &ending, (uint64_t)status.st_size);
		if (r == 0)
			break;
		if (r == -EBADMSG || (r > 0 && window > 2 * CHAIN_LINE_MAX))
			return failure_set(failure, EBADMSG,
					   "the last line of %s/%s is no record of this log; %s",
					   directory, SEGMENT_NAME, advice_tail);
		if (r < 0)
			return failure_set(failure, r, "cannot repair the end of %s/%s: %m",
					   directory, SEGMENT_NAME);
	}
	return 0;
}

int segment_open(const char *directory, struct segment *ret_segment, struct failure *failure)
{
	struct segment segment = {.fd = -1, .lock_fd = -1};
	_cleanup_(closep) int directory_fd = -1, fd = -1, lock_fd = -1;
	int r;

	directory_fd = open_directory(directory, failure);
	if (directory_fd < 0)
		return directory_fd;
	lock_fd = open_regular(directory_fd, directory, SEGMENT_LOCK, O_RDWR, failure);
	if (lock_fd < 0)
		return lock_fd;
	r = take_lock(lock_fd, directory, failure);
	if (r < 0)
		return r;
	fd = open_regular(directory_fd, directory, SEGMENT_NAME, O_RDWR | O_APPEND, failure);
	if (fd < 0)
		return fd;
	segment.fd = fd;
	r = resume(&segment, directory, failure);
	if (r < 0)
		return r;
	/* So that the file itself survives a power cut, not only what is in it. */
	if (fsync(directory_fd) < 0 && errno != EINVAL)
		return failure_set(failure, errno, "cannot sync %s: %m", directory);
	segment.fd = TAKE_FD(fd);
	segment.lock_fd = TAKE_FD(lock_fd);
	*ret_segment = segment;
	return 0;
}

void segment_close(struct segment *segment)
{
	closep(&segment->fd);
	closep(&segment->lock_fd);
	segment->fd = segment->lock_fd = -1;
}

bool segment_is_current(const struct segment *segment, const char *directory)
{
	struct stat ours, named;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_NAME) >= (int)sizeof(path))
		return false;
	return fstat(segment->fd, &ours) == 0 && lstat(path, &named) == 0 &&
	       ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

bool segment_has_writer(const char *directory)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(closep) int fd = -1;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_LOCK) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
