/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log's segments, from the oldest closed one to the one that grows, line by line. */
#include "audit/read/lines.h"

#include <limits.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/storage/segment.h"
#include "audit/storage/segment_input.h"

#define READ_SIZE (1u << 18)

struct lines {
	char directory[PATH_MAX];
	char path[PATH_MAX];
	bool digests;
	lines_digest_handler on_digest;
	void *on_digest_data;
	struct segment_input *input;
	bool current;	/* the segment that grows */
	uint64_t first; /* of a closed one */
	uint64_t opened;
	/* bytes read and not handed out: from `start` to `end` */
	char *data;
	size_t start, end, capacity;
	uint64_t number;
	uint64_t bytes;
	bool skipping; /* in a line longer than any record's */
	enum lines_event event;
};

const char *lines_directory(const struct lines *lines)
{
	return lines->directory;
}

const char *lines_path(const struct lines *lines)
{
	return lines->path;
}

uint64_t lines_number(const struct lines *lines)
{
	return lines->number;
}

uint64_t lines_segment_first(const struct lines *lines)
{
	return lines->current ? 0 : lines->first;
}

uint64_t lines_segment_count(const struct lines *lines)
{
	return lines->opened;
}

size_t lines_torn(const struct lines *lines)
{
	return lines->end - lines->start;
}

uint64_t lines_bytes(const struct lines *lines)
{
	return lines->bytes;
}

enum lines_event lines_take_event(struct lines *lines)
{
	enum lines_event event = lines->event;

	lines->event = LINES_NONE;
	return event;
}

void lines_on_digest(struct lines *lines, lines_digest_handler handler, void *data)
{
	lines->on_digest = handler;
	lines->on_digest_data = data;
}

void lines_close(struct lines *lines)
{
	segment_input_closep(&lines->input);
	free(lines->data);
	free(lines);
}

/* --- from segment to segment -------------------------------------------------------------- */

/* Opens one; NULL: the one that grows. */
static int open_segment(struct lines *lines, const struct segments_entry *entry,
			struct failure *failure)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	char name[SEGMENTS_NAME_SIZE] = SEGMENT_NAME, path[PATH_MAX];
	bool compressed = entry && entry->compressed;
	int r;

	if (entry)
		segments_name(entry->first, compressed, name);
	if (snprintf(path, sizeof(path), "%s/%s", lines->directory, name) >= (int)sizeof(path))
		return failure_set(failure, ENAMETOOLONG,
				   "the name of the log directory is too long");
	r = segment_input_open(path, compressed, &input);
	if (r == -EBADMSG)
		return failure_set(failure, r, "%s is not a regular file", path);
	if (r == 0 && compressed && lines->digests)
		r = segment_input_hash(input);
	if (r < 0)
		return failure_set(failure, r, "cannot open %s: %m", path);
	segment_input_closep(&lines->input);
	lines->input = TAKE_PTR(input);
	lines->current = !entry;
	lines->first = entry ? entry->first : lines->first;
	memcpy(lines->path, path, sizeof(path));
	lines->start = lines->end = 0;
	lines->number = 0;
	lines->skipping = false;
	lines->opened++;
	return 0;
}

/*
 * Opens the segment that follows those up to `first`. A closed one may get compressed, and the one
 * that grows may get closed, between looking and opening.
 */
static int open_next(struct lines *lines, uint64_t first, struct failure *failure)
{
	int r = -ENOENT;

	for (int attempt = 0; attempt < 5 && r == -ENOENT; attempt++) {
		struct segments segments;
		size_t i = 0;

		r = segments_list(lines->directory, &segments);
		if (r < 0)
			return r;
		while (i < segments.count && segments.entries[i].first <= first)
			i++;
		r = open_segment(lines, i < segments.count ? &segments.entries[i] : NULL,
				 attempt < 4 ? NULL : failure);
		segments_free(&segments);
	}
	return r;
}

/* The seq that the segment that grows begins with; 0: it has no line, or is not there. */
static uint64_t first_of_current(const char *directory)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	char path[PATH_MAX], head[64];
	uint64_t first;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_NAME) >= (int)sizeof(path) ||
	    segment_input_open(path, false, &input) < 0)
		return 0;
	n = segment_input_read(input, head, sizeof(head));
	return n > 0 && chain_sequence(head, (size_t)n, &first) == 0 ? first : 0;
}

/* Which segment comes before the one that has the record, as open_next() wants it. */
static uint64_t segment_before(const char *directory, uint64_t record)
{
	uint64_t current = first_of_current(directory), before = 0;
	struct segments segments;

	if (current > 0 && current <= record)
		return current - 1;
	if (segments_list(directory, &segments) < 0)
		return 0;
	for (size_t i = 0; i < segments.count && segments.entries[i].first <= record; i++)
		before = segments.entries[i].first - 1;
	segments_free(&segments);
	return before;
}

static int open_from(const char *directory, bool digests, uint64_t before, struct lines **ret_lines,
		     struct failure *failure)
{
	_cleanup_(lines_closep) struct lines *lines = calloc(1, sizeof(*lines));
	struct failure why = {};
	int r;

	if (!lines)
		return -ENOMEM;
	lines->digests = digests;
	lines->capacity = READ_SIZE;
	lines->data = malloc(lines->capacity);
	if (!lines->data)
		return -ENOMEM;
	if (snprintf(lines->directory, sizeof(lines->directory), "%s", directory) >=
	    (int)sizeof(lines->directory))
		return failure_set(failure, ENAMETOOLONG,
				   "the name of the log directory is too long");
	r = open_next(lines, before, &why);
	if (r == -ENOENT)
		return failure_set(failure, ENOENT,
				   "there is no log in %s; name its directory with --log",
				   lines->directory);
	if (r < 0)
		return failure_set(failure, r, why.text[0] ? "%s" : "cannot read %s: %m",
				   why.text[0] ? why.text : lines->directory);
	lines->event = LINES_NONE;
	*ret_lines = TAKE_PTR(lines);
	return 0;
}

int lines_open(const char *directory, bool digests, struct lines **ret_lines,
	       struct failure *failure)
{
	return open_from(directory, digests, 0, ret_lines, failure);
}

int lines_open_at(const char *directory, uint64_t after, struct lines **ret_lines,
		  struct failure *failure)
{
	return open_from(directory, false, segment_before(directory, after), ret_lines, failure);
}

static void end_digest(struct lines *lines)
{
	unsigned char digest[SHA256_SIZE];

	if (lines->on_digest && segment_input_digest(lines->input, digest) == 0)
		lines->on_digest(lines->on_digest_data, lines->first, digest);
}

static int torn_end(size_t torn, const char *path, struct failure *failure)
{
	return torn == 0 ? 0 : failure_set(failure, EBADMSG, "%s: its last line is cut off", path);
}

/* Behind a closed segment. 0: something new to read. */
static int leave_closed(struct lines *lines, struct failure *failure)
{
	size_t torn = lines_torn(lines);
	char path[PATH_MAX];
	int r;

	memcpy(path, lines->path, sizeof(path));
	end_digest(lines);
	r = open_next(lines, lines->first, failure);
	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	lines->event = LINES_SEGMENT;
	return torn_end(torn, path, failure);
}

/* Is this file the closed segment that was read last? */
static bool was_closed(const struct lines *lines, const struct stat *file)
{
	char name[SEGMENTS_NAME_SIZE], path[PATH_MAX];
	struct stat named;

	/* Of one that is compressed already, or of the next, only the writer knows. */
	if (!lines->current)
		return true;
	segments_name(lines->first, true, name);
	if (snprintf(path, sizeof(path), "%s/%s", lines->directory, name) < (int)sizeof(path) &&
	    lstat(path, &named) == 0)
		return true;
	segments_name(lines->first, false, name);
	return snprintf(path, sizeof(path), "%s/%s", lines->directory, name) < (int)sizeof(path) &&
	       lstat(path, &named) == 0 && named.st_dev == file->st_dev &&
	       named.st_ino == file->st_ino;
}

/* Makes room behind `end`. */
static int make_room(struct lines *lines)
{
	char *grown;

	if (lines->start > 0) {
		memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	if (lines->end < lines->capacity)
		return 0;
	grown = realloc(lines->data, lines->capacity * 2);
	if (!grown)
		return -ENOMEM;
	lines->data = grown;
	lines->capacity *= 2;
	return 0;
}

/* The segment that grows became shorter. */
static int look_at_cut(struct lines *lines, uint64_t offset, uint64_t size, struct failure *failure)
{
	uint64_t handed_out = offset - (lines->end - lines->start);

	lines->end = lines->start;
	segment_input_rewind(lines->input, size);
	/* A writer that starts cuts off a torn line: no harm. */
	if (size == handed_out)
		return -ENODATA;
	lines->event = LINES_CUT;
	return failure_set(failure, EBADMSG, "%s became shorter while it was read", lines->path);
}

/*
 * At the end of the segment that grows: was it cut, closed, or has another file taken its place? 0:
 * there may be more to read after all; -ENODATA: no.
 */
static int look_again(struct lines *lines, struct failure *failure)
{
	uint64_t offset = segment_input_offset(lines->input);
	size_t torn = lines_torn(lines);
	struct stat ours, named;
	char path[PATH_MAX];
	int r = segment_input_stat(lines->input, &ours);

	if (r < 0)
		return failure_set(failure, r, "cannot look at %s: %m", lines->path);
	if ((uint64_t)ours.st_size < offset)
		return look_at_cut(lines, offset, (uint64_t)ours.st_size, failure);
	if (lstat(lines->path, &named) < 0 ||
	    (named.st_dev == ours.st_dev && named.st_ino == ours.st_ino))
		return -ENODATA;
	/* What was written until it was closed. */
	if (segment_input_stat(lines->input, &ours) == 0 && (uint64_t)ours.st_size > offset)
		return 0;
	memcpy(path, lines->path, sizeof(path));
	r = open_next(lines, lines->first, NULL);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? -ENODATA : r;
	lines->event = was_closed(lines, &ours) ? LINES_SEGMENT : LINES_REPLACED;
	return torn_end(torn, path, failure);
}

/* Reads more. 0: something new, or a new file; -ENODATA: the end for now. */
static int fill(struct lines *lines, struct failure *failure)
{
	ssize_t n;
	int r;

	r = make_room(lines);
	if (r < 0)
		return failure_set(failure, r, "no memory to read %s", lines->path);
	n = segment_input_read(lines->input, lines->data + lines->end,
			       lines->capacity - lines->end);
	if (n > 0) {
		lines->end += (size_t)n;
		return 0;
	}
	if (n == 0)
		return lines->current ? look_again(lines, failure) : leave_closed(lines, failure);
	if (n != -EBADMSG)
		return failure_set(failure, (int)n, "cannot read %s: %m", lines->path);
	/* What it held and cannot be read is missing from what follows. */
	failure_set(failure, EBADMSG, "%s:%llu: the compressed data behind this line is damaged",
		    lines->path, (unsigned long long)lines->number);
	lines->end = lines->start;
	r = open_next(lines, lines->first, NULL);
	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	lines->event = LINES_SEGMENT;
	return -EBADMSG;
}

/* A line begins the segment that grows: it will be closed under this name. */
static void note_first(struct lines *lines, const char *line, size_t size)
{
	unsigned char digest[SHA256_SIZE];
	uint64_t sequence;
	size_t body;

	if (chain_split(line, size, &body, &sequence, digest) == 0 && sequence > lines->first)
		lines->first = sequence;
}

static int hand_out(struct lines *lines, const char *line, size_t size, const char **ret_line,
		    size_t *ret_size, struct failure *failure)
{
	lines->start += size + 1;
	lines->number++;
	if (lines->skipping) {
		lines->skipping = false;
		return failure_set(failure, EBADMSG, "%s:%llu: the line is longer than any record",
				   lines->path, (unsigned long long)lines->number);
	}
	lines->bytes += size + 1;
	if (lines->current && lines->number == 1)
		note_first(lines, line, size);
	*ret_line = line;
	*ret_size = size;
	return 0;
}

int lines_next(struct lines *lines, const char **ret_line, size_t *ret_size,
	       struct failure *failure)
{
	size_t searched = 0;
	int r;

	for (;;) {
		size_t held = lines->end - lines->start;
		const char *from = lines->data + lines->start;
		const char *newline =
			held > searched ? memchr(from + searched, '\n', held - searched) : NULL;
		uint64_t opened = lines->opened;

		if (newline)
			return hand_out(lines, from, (size_t)(newline - from), ret_line, ret_size,
					failure);
		if (held > CHAIN_LINE_MAX) {
			lines->skipping = true;
			lines->start = lines->end = 0;
			held = 0;
		}
		searched = held;
		r = fill(lines, failure);
		if (r < 0)
			return r;
		if (lines->opened != opened)
			searched = 0;
	}
}
