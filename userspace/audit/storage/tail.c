/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the last records of a log, to tell which of those given again it has already. */
#include "audit/storage/tail.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "base/cleanup.h"

/* Where the lines behind `after` begin, from the end: there are few of them. */
static size_t find_start(const char *data, size_t size, uint64_t after)
{
	size_t start = size;

	while (start > 0) {
		const char *before = start > 1 ? memrchr(data, '\n', start - 1) : NULL;
		size_t line = before ? (size_t)(before + 1 - data) : 0;
		uint64_t sequence;

		if (chain_sequence(data + line, start - line, &sequence) < 0 || sequence <= after)
			break;
		start = line;
	}
	return start;
}

static int add_file(int directory_fd, const char *name, uint64_t after, struct buffer *to)
{
	_cleanup_(closep) int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	size_t size, start;
	char *data;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	size = (size_t)status.st_size;
	if (size == 0)
		return 0;
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	start = find_start(data, size, after);
	buffer_add(to, data + start, size - start);
	munmap(data, size);
	return to->failed ? -ENOMEM : 0;
}

int tail_read(const char *directory, uint64_t after, struct tail *ret_tail)
{
	_cleanup_(closep) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct segments segments;
	struct tail tail = {};
	int r;

	if (fd < 0)
		return -errno;
	r = segments_list(directory, &segments);
	if (r < 0)
		return r;
	if (segments.count > 0 && !segments.entries[segments.count - 1].compressed) {
		char name[SEGMENTS_NAME_SIZE];

		segments_name(segments.entries[segments.count - 1].first, false, name);
		r = add_file(fd, name, after, &tail.lines);
	}
	segments_free(&segments);
	if (r == 0)
		r = add_file(fd, SEGMENT_NAME, after, &tail.lines);
	if (r < 0) {
		tail_free(&tail);
		return r;
	}
	*ret_tail = tail;
	return 0;
}

void tail_free(struct tail *tail)
{
	buffer_free(&tail->lines);
	tail->at = 0;
}

/* Is the line this record's, between its number and its chain value? */
static bool holds(const char *line, size_t line_size, const char *record, size_t size)
{
	const char *members = memchr(line, ',', line_size);
	size_t head = members ? (size_t)(members + 1 - line) : line_size;

	return line_size >= head + CHAIN_TAIL_SIZE && size >= 2 &&
	       line_size - head - CHAIN_TAIL_SIZE == size - 2 &&
	       memcmp(line + head, record + 1, size - 2) == 0;
}

bool tail_has(struct tail *tail, const char *record, size_t size)
{
	while (tail->at < tail->lines.size) {
		const char *line = tail->lines.data + tail->at;
		const char *newline = memchr(line, '\n', tail->lines.size - tail->at);
		size_t line_size = newline ? (size_t)(newline + 1 - line)
					   : tail->lines.size - tail->at;

		tail->at += line_size;
		if (holds(line, line_size, record, size))
			return true;
	}
	return false;
}
