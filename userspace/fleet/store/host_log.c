/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the copy of one host's log, byte for byte. */
#include "fleet/store/host_log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/storage/segments.h"
#include "audit/storage/storage.h"

static int make_parents(const char *directory, const char *host, struct failure *failure)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER, directory);
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s: %m", path);
	(void)snprintf(path, sizeof(path), "%s/" HOST_LOG_FOLDER "/%s", directory, host);
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s: %m", path);
	return 0;
}

int host_log_open(struct host_log *log, const char *directory, const char *host, const char *id,
		  struct failure *failure)
{
	int r;

	*log = (struct host_log){.segment = SEGMENT_INIT};
	(void)snprintf(log->host, sizeof(log->host), "%s", host);
	(void)snprintf(log->log, sizeof(log->log), "%s", id);
	if (snprintf(log->path, sizeof(log->path), "%s/" HOST_LOG_FOLDER "/%s/%s", directory, host,
		     id) >= (int)sizeof(log->path))
		return failure_set(failure, ENAMETOOLONG, "%s: %m", directory);
	r = make_parents(directory, host, failure);
	return r < 0 ? r : segment_open_copy(log->path, &log->segment, failure);
}

void host_log_close(struct host_log *log)
{
	if (log->segment.lock_fd >= 0 && !log->dirty)
		(void)segment_stop(&log->segment);
	segment_close(&log->segment);
}

static int write_all(int fd, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = storage_append(fd, data + done, size - done);

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

int host_log_append(struct host_log *log, const struct batch *batch, size_t from,
		    uint64_t *ret_offset, struct failure *failure)
{
	const struct batch_record *first = &batch->records[from],
				  *last = &batch->records[batch->count - 1];
	/* The lines are contiguous in memory. */
	size_t size = (size_t)(last->line + last->size - first->line), body;
	struct segment *segment = &log->segment;
	int r = write_all(segment->fd, first->line, size);

	if (r < 0) {
		(void)storage_truncate(segment->fd, segment->size);
		return failure_set(
			failure, r,
			"cannot write %s/" SEGMENT_NAME
			": %m; nothing of it was acknowledged, and it comes again once the store can write",
			log->path);
	}
	*ret_offset = segment->size;
	if (segment->first == 0)
		segment->first = first->sequence;
	segment->size += size;
	log->dirty = true;
	return chain_split(last->line, last->size - 1, &body, &segment->sequence, segment->chain);
}

int host_log_begin_run(struct host_log *log, uint64_t last, const unsigned char *chain,
		       struct failure *failure)
{
	int r = log->segment.size > 0 ? segment_rotate(&log->segment) : 0;

	if (r < 0)
		return failure_set(failure, r, "cannot close a segment of %s: %m", log->path);
	log->segment.sequence = last;
	log->unproven = !chain;
	if (chain)
		memcpy(log->segment.chain, chain, sizeof(log->segment.chain));
	return 0;
}

int host_log_sync(struct host_log *log, struct failure *failure)
{
	int r = log->dirty ? storage_sync(log->segment.fd) : 0;

	if (r < 0)
		return failure_set(failure, r,
				   "cannot sync %s/" SEGMENT_NAME
				   ": %m; nothing of it was acknowledged",
				   log->path);
	log->dirty = false;
	return 0;
}

int host_log_rotate(struct host_log *log, struct failure *failure)
{
	int r = log->segment.size >= HOST_LOG_SEGMENT ? segment_rotate(&log->segment) : 0;

	return r < 0 ? failure_set(failure, r, "cannot close a segment of %s: %m", log->path) : 0;
}

/* Opens the file if its first record has the number of this segment. */
static int open_file(const char *path, uint64_t segment, FILE **ret_file)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *line = NULL;
	uint64_t sequence;
	size_t capacity = 0;

	if (!file)
		return -errno;
	if (getline(&line, &capacity, file) <= 0 ||
	    chain_sequence(line, strlen(line), &sequence) < 0 || sequence != segment)
		return -ENODATA;
	*ret_file = TAKE_PTR(file);
	return 0;
}

int host_log_open_segment(const char *path, uint64_t segment, FILE **ret_file)
{
	char name[SEGMENTS_NAME_SIZE], file[PATH_MAX];
	int r = -ENODATA;

	segments_name(segment, false, name);
	/* Try both names twice, because the segment may be closed between two attempts. */
	for (unsigned int i = 0; i < 4 && r < 0; i++) {
		if (snprintf(file, sizeof(file), "%s/%s", path, i % 2 ? name : SEGMENT_NAME) >=
		    (int)sizeof(file))
			return -ENAMETOOLONG;
		r = open_file(file, segment, ret_file);
	}
	return r;
}

int host_log_read_at(FILE *file, uint64_t offset, char **ret_line, size_t *ret_size)
{
	_cleanup_(freep) char *line = NULL;
	size_t capacity = 0;
	ssize_t size;

	if (fseeko(file, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	size = getline(&line, &capacity, file);
	if (size <= 0 || line[size - 1] != '\n')
		return -ENODATA;
	*ret_line = TAKE_PTR(line);
	*ret_size = (size_t)size;
	return 0;
}

int host_log_read(const char *path, uint64_t segment, uint64_t offset, char **ret_line,
		  size_t *ret_size)
{
	_cleanup_(fclosep) FILE *file = NULL;
	int r = host_log_open_segment(path, segment, &file);

	return r < 0 ? r : host_log_read_at(file, offset, ret_line, ret_size);
}

struct found_line {
	char *line;
	size_t size, capacity;
	off_t at;
	uint64_t sequence;
};

static void found_line_release(struct found_line *found)
{
	free(found->line);
}

/* Reads a line at the file's position. */
static int read_line(FILE *file, struct found_line *found)
{
	ssize_t size = getline(&found->line, &found->capacity, file);

	if (size <= 0 || found->line[size - 1] != '\n')
		return -ENODATA;
	found->size = (size_t)size;
	return chain_sequence(found->line, found->size, &found->sequence) < 0 ? -ENODATA : 0;
}

/*
 * Opens the segment that is being written. Returns -ENODATA if it is empty or begins after the
 * record.
 */
static int open_growing(const char *path, uint64_t sequence, FILE **ret_file, uint64_t *ret_first)
{
	_cleanup_(found_line_release) struct found_line found = {};
	_cleanup_(fclosep) FILE *file = NULL;
	char name[PATH_MAX];
	int r;

	if (snprintf(name, sizeof(name), "%s/" SEGMENT_NAME, path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	file = fopen(name, "re");
	if (!file)
		return errno == ENOENT ? -ENODATA : -errno;
	r = read_line(file, &found);
	if (r < 0 || found.sequence > sequence)
		return -ENODATA;
	*ret_first = found.sequence;
	*ret_file = TAKE_PTR(file);
	return 0;
}

/* Opens the file that contains a record if the log has it. */
static int open_file_of(const char *path, uint64_t sequence, FILE **ret_file, uint64_t *ret_first)
{
	struct segments segments;
	uint64_t first = 0;
	int r;

	/*
	 * Try the segment being written first: its name does not contain its first record's number.
	 */
	r = open_growing(path, sequence, ret_file, ret_first);
	if (r != -ENODATA)
		return r;
	r = segments_list(path, &segments);
	if (r < 0)
		return r;
	for (size_t i = 0; i < segments.count && segments.entries[i].first <= sequence; i++)
		first = segments.entries[i].first;
	segments_free(&segments);
	r = first > 0 ? host_log_open_segment(path, first, ret_file) : -ENODATA;
	if (r == 0)
		*ret_first = first;
	return r;
}

/* Reads the first line that begins at or after `from`, and sets its position. */
static int next_line(FILE *file, off_t from, struct found_line *found)
{
	/*
	 * Skip the rest of the line that contains `from` - 1, so that a line beginning at `from` is
	 * found.
	 */
	if (fseeko(file, from - 1, SEEK_SET) < 0)
		return -errno;
	if (getline(&found->line, &found->capacity, file) <= 0)
		return -ENODATA;
	found->at = ftello(file);
	return read_line(file, found);
}

int host_log_find(const char *path, uint64_t sequence, uint64_t *ret_segment, uint64_t *ret_offset,
		  char **ret_line, size_t *ret_size)
{
	_cleanup_(fclosep) FILE *file = NULL;
	_cleanup_(found_line_release) struct found_line found = {};
	/* The line at `low` is not after the record; all lines from `high` on are. */
	off_t low = 0, high;
	uint64_t first;
	int r = open_file_of(path, sequence, &file, &first);

	if (r < 0)
		return r;
	if (fseeko(file, 0, SEEK_END) < 0)
		return -errno;
	high = ftello(file);
	while (high - low > 1) {
		off_t middle = low + (high - low) / 2;

		r = next_line(file, middle, &found);
		if (r < 0 && r != -ENODATA)
			return r;
		if (r == 0 && found.at < high && found.sequence <= sequence)
			low = found.at;
		else
			high = middle;
	}
	if (fseeko(file, low, SEEK_SET) < 0)
		return -errno;
	r = read_line(file, &found);
	if (r < 0)
		return r;
	if (found.sequence != sequence)
		return -ENODATA;
	*ret_segment = first;
	*ret_offset = (uint64_t)low;
	*ret_line = TAKE_PTR(found.line);
	*ret_size = found.size;
	return 0;
}
