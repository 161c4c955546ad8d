/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, locks, rotates and closes the file that a log grows in. */
#include "audit/storage/segment.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/ending.h"
#include "audit/storage/segments.h"
#include "audit/storage/storage.h"

static const char advice_tail[] =
	"run `cordon log verify`, then move the whole log directory away: the next start begins a new one";

int segment_open_directory(const char *directory, struct failure *failure)
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

/* `shown`: the directory's name in messages, here and below. */
static int open_regular(int directory_fd, const char *shown, const char *name, int flags,
			struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	struct stat status;

	fd = storage_create(directory_fd, name, flags, 0640);
	if (fd < 0)
		return failure_set(failure, fd, "cannot open %s/%s for writing: %m%s", shown, name,
				   fd == -ELOOP ? "; it is a symbolic link: remove it" : "");
	if (fstat(fd, &status) < 0)
		return failure_set(failure, errno, "cannot look at %s/%s: %m", shown, name);
	if (!S_ISREG(status.st_mode))
		return failure_set(failure, EBADMSG,
				   "%s/%s is not a regular file: remove it, or name another log "
				   "directory",
				   shown, name);
	return TAKE_FD(fd);
}

static int take_lock(int fd, const char *shown, struct failure *failure)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return failure_set(failure, EWOULDBLOCK,
				   "another cordon writes the log in %s; stop it, or name another "
				   "log directory",
				   shown);
	return failure_set(failure, errno, "cannot lock %s/%s: %m", shown, SEGMENT_LOCK);
}

/* What the lock file says of the last writer. */
#define WRITER_AT_WORK "at work\n"
#define WRITER_STOPPED "stopped\n"

static int note_state(const struct segment *segment, const char *state)
{
	int r = storage_overwrite(segment->lock_fd, state, strlen(state), 0);

	return r < 0 ? r : storage_sync(segment->lock_fd);
}

static int read_state(struct segment *segment)
{
	char state[sizeof(WRITER_AT_WORK)] = "";

	if (pread(segment->lock_fd, state, sizeof(state) - 1, 0) < 0)
		return -errno;
	segment->crashed = strcmp(state, WRITER_AT_WORK) == 0;
	return 0;
}

/* The newest closed segment; first 0: there is none. */
static int last_closed(const char *directory, struct segments_entry *ret_entry)
{
	struct segments segments;
	int r = segments_list(directory, &segments);

	if (r < 0)
		return r;
	*ret_entry = segments.count > 0 ? segments.entries[segments.count - 1]
					: (struct segments_entry){};
	segments_free(&segments);
	return 0;
}

static int read_closed(const char *directory, const struct segments_entry *entry,
		       struct ending *ret_ending)
{
	char path[PATH_MAX], name[SEGMENTS_NAME_SIZE];

	segments_name(entry->first, entry->compressed, name);
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return ending_of_closed(path, entry->compressed, ret_ending);
}

/* What the log ends with. The closed segment is read only where this one says too little. */
static int find_end(struct segment *segment, const char *directory, uint64_t size, bool is_copy,
		    struct ending *ret_ending)
{
	struct ending before = {}, ending;
	struct segments_entry closed;
	int r = last_closed(directory, &closed);

	if (r == 0)
		r = ending_find(segment->fd, size, segment->crashed, 0, before.chain, &ending);
	if (r < 0)
		return r;
	if (ending.first > 0 && ending.first <= closed.first)
		return -EBADMSG;
	if (closed.first > 0 && ending.first == ending.sequence) {
		r = read_closed(directory, &closed, &before);
		if (r == 0 && !(is_copy && ending.sequence > before.sequence + 1))
			r = ending_find(segment->fd, size, segment->crashed, before.sequence,
					before.chain, &ending);
		if (r < 0)
			return r;
	}
	if (ending.sequence == 0) {
		ending.sequence = before.sequence;
		memcpy(ending.chain, before.chain, sizeof(ending.chain));
	}
	*ret_ending = ending;
	return 0;
}

static int resume(struct segment *segment, const char *directory, const char *shown, bool is_copy,
		  struct failure *failure)
{
	struct ending ending;
	struct stat status;
	int r;

	if (fstat(segment->fd, &status) < 0)
		return failure_set(failure, errno, "cannot look at %s/%s: %m", shown, SEGMENT_NAME);
	r = find_end(segment, directory, (uint64_t)status.st_size, is_copy, &ending);
	if (r == -EBADMSG)
		return failure_set(failure, r,
				   "the last line of %s/%s is no record of this log; %s", shown,
				   SEGMENT_NAME, advice_tail);
	if (r < 0)
		return failure_set(failure, r, "cannot read the end of the log in %s: %m", shown);
	segment->repaired = (uint64_t)status.st_size - ending.size;
	if (segment->repaired > 0) {
		r = storage_truncate(segment->fd, ending.size);
		if (r == 0)
			r = storage_sync(segment->fd);
		if (r < 0)
			return failure_set(failure, r, "cannot repair the end of %s/%s: %m", shown,
					   SEGMENT_NAME);
	}
	segment->first = ending.first;
	segment->size = ending.size;
	segment->sequence = ending.sequence;
	memcpy(segment->chain, ending.chain, sizeof(segment->chain));
	return 0;
}

/* Opens what is in the directory; on failure the caller closes what was opened. */
static int open_all(struct segment *segment, const char *directory, const char *shown, bool is_copy,
		    struct failure *failure)
{
	int r;

	segment->directory_fd = segment_open_directory(directory, failure);
	if (segment->directory_fd < 0)
		return segment->directory_fd;
	segment->lock_fd =
		open_regular(segment->directory_fd, shown, SEGMENT_LOCK, O_RDWR, failure);
	if (segment->lock_fd < 0)
		return segment->lock_fd;
	r = take_lock(segment->lock_fd, shown, failure);
	if (r == 0)
		r = read_state(segment);
	if (r < 0)
		return failure_set(failure, r, "cannot read %s/%s: %m", shown, SEGMENT_LOCK);
	/* A crash came between closing one segment and beginning the next. */
	(void)storage_remove(segment->directory_fd, SEGMENT_NEXT);
	segment->fd = open_regular(segment->directory_fd, shown, SEGMENT_NAME, O_RDWR | O_APPEND,
				   failure);
	if (segment->fd < 0)
		return segment->fd;
	r = resume(segment, directory, shown, is_copy, failure);
	if (r < 0)
		return r;
	r = note_state(segment, WRITER_AT_WORK);
	/* So that the file itself survives a power cut, not only what is in it. */
	if (r == 0)
		r = storage_sync_directory(segment->directory_fd);
	return r < 0 ? failure_set(failure, r, "cannot sync %s: %m", shown) : 0;
}

static int open_or_close(const char *directory, const char *shown, bool is_copy,
			 struct segment *ret_segment, struct failure *failure)
{
	struct segment segment = SEGMENT_INIT;
	int r = open_all(&segment, directory, shown, is_copy, failure);

	if (r < 0) {
		segment_close(&segment);
		return r;
	}
	*ret_segment = segment;
	return 0;
}

int segment_open(const char *directory, const char *shown, struct segment *ret_segment,
		 struct failure *failure)
{
	return open_or_close(directory, shown ? shown : directory, false, ret_segment, failure);
}

int segment_open_copy(const char *directory, struct segment *ret_segment, struct failure *failure)
{
	return open_or_close(directory, directory, true, ret_segment, failure);
}

int segment_stop(struct segment *segment)
{
	return note_state(segment, WRITER_STOPPED);
}

void segment_close(struct segment *segment)
{
	closep(&segment->fd);
	closep(&segment->lock_fd);
	closep(&segment->directory_fd);
	segment->fd = segment->lock_fd = segment->directory_fd = -1;
}

int segment_rotate(struct segment *segment)
{
	_cleanup_(closep) int next_fd = -1;
	char name[SEGMENTS_NAME_SIZE];
	int r = storage_sync(segment->fd);

	if (r < 0)
		return r;
	segments_name(segment->first, false, name);
	if (faccessat(segment->directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	/* First, for want of space shows here. */
	next_fd = storage_create(segment->directory_fd, SEGMENT_NEXT, O_RDWR | O_APPEND | O_EXCL,
				 0640);
	if (next_fd == -EEXIST)
		(void)storage_remove(segment->directory_fd, SEGMENT_NEXT);
	if (next_fd < 0)
		return next_fd;
	r = storage_rename(segment->directory_fd, SEGMENT_NAME, name);
	if (r < 0)
		return r;
	/* Never the other way round: the new file would take the place of the old one. */
	r = storage_sync_directory(segment->directory_fd);
	if (r == 0)
		r = storage_rename(segment->directory_fd, SEGMENT_NEXT, SEGMENT_NAME);
	if (r < 0)
		return r;
	closep(&segment->fd);
	segment->fd = TAKE_FD(next_fd);
	segment->first = 0;
	segment->size = 0;
	return storage_sync_directory(segment->directory_fd);
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

static int open_lock(const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_LOCK) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

bool segment_was_stopped(const char *directory)
{
	_cleanup_(closep) int fd = open_lock(directory);
	char state[sizeof(WRITER_AT_WORK)] = "";

	return fd < 0 || pread(fd, state, sizeof(state) - 1, 0) < 0 ||
	       strcmp(state, WRITER_AT_WORK) != 0;
}

bool segment_has_writer(const char *directory)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_(closep) int fd = open_lock(directory);

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
