/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/reader.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/chain.h"
#include "audit/segment.h"

DEFINE_CLEANUP(json_t *, json_decref, reader_json_decrefp)

#define READ_SIZE (1u << 16)

struct audit_reader {
	char path[PATH_MAX];
	char directory[PATH_MAX];
	int fd;
	struct sha256 *hash;
	/* bytes read and not handed out: from `start` to `end`; `offset` is where `end` is */
	char *data;
	size_t start, end, capacity;
	uint64_t offset;
	uint64_t line; /* of the line last handed out, from 1 */
	uint64_t segments;
	bool anchored; /* the line before is known, so that this one's chain can be checked */
	bool skipping; /* in a line longer than any record's */
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
};

static int open_file(struct audit_reader *reader, struct failure *failure)
{
	struct stat status;
	int fd = open(reader->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 && errno == ENOENT)
		return failure_set(failure, ENOENT,
				   "there is no log in %s; name its directory with --log",
				   reader->directory);
	if (fd < 0)
		return failure_set(failure, errno, "cannot open %s: %m", reader->path);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return failure_set(failure, EBADMSG, "%s is not a regular file", reader->path);
	}
	closep(&reader->fd);
	reader->fd = fd;
	reader->start = reader->end = 0;
	reader->offset = reader->line = reader->sequence = 0;
	reader->skipping = false;
	reader->anchored = true;
	memset(reader->chain, 0, sizeof(reader->chain));
	reader->segments++;
	return 0;
}

void audit_reader_close(struct audit_reader *reader)
{
	closep(&reader->fd);
	if (reader->hash)
		sha256_free(reader->hash);
	free(reader->data);
	free(reader);
}

int audit_reader_open(const char *directory, struct audit_reader **ret_reader,
		      struct failure *failure)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->fd = -1;
	reader->hash = sha256_new();
	reader->capacity = READ_SIZE;
	reader->data = malloc(reader->capacity);
	if (!reader->hash || !reader->data)
		return -ENOMEM;
	if (snprintf(reader->path, sizeof(reader->path), "%s/%s", directory, SEGMENT_NAME) >=
	    (int)sizeof(reader->path))
		return failure_set(failure, ENAMETOOLONG,
				   "the name of the log directory is too "
				   "long");
	snprintf(reader->directory, sizeof(reader->directory), "%s", directory);
	r = open_file(reader, failure);
	if (r < 0)
		return r;
	*ret_reader = TAKE_PTR(reader);
	return 0;
}

/* Makes room behind `end`. */
static int make_room(struct audit_reader *reader)
{
	char *grown;

	if (reader->start > 0) {
		memmove(reader->data, reader->data + reader->start, reader->end - reader->start);
		reader->end -= reader->start;
		reader->start = 0;
	}
	if (reader->end < reader->capacity)
		return 0;
	grown = realloc(reader->data, reader->capacity * 2);
	if (!grown)
		return -ENOMEM;
	reader->data = grown;
	reader->capacity *= 2;
	return 0;
}

/*
 * At the end of the file: was it cut, or has another taken its place? 0: there may be more to read
 * after all; -ENODATA: no.
 */
static int look_again(struct audit_reader *reader, struct failure *failure)
{
	struct stat ours, named;
	uint64_t behind;
	int r;

	if (fstat(reader->fd, &ours) < 0)
		return failure_set(failure, errno, "cannot look at %s: %m", reader->path);
	if ((uint64_t)ours.st_size < reader->offset) {
		behind = reader->offset - (reader->end - reader->start);
		reader->end = reader->start;
		reader->offset = (uint64_t)ours.st_size;
		/* A writer that starts cuts off a torn line: no harm. */
		if ((uint64_t)ours.st_size == behind)
			return -ENODATA;
		reader->anchored = false;
		return failure_set(failure, EBADMSG, "%s became shorter while it was read",
				   reader->path);
	}
	if (lstat(reader->path, &named) < 0 ||
	    (named.st_dev == ours.st_dev && named.st_ino == ours.st_ino))
		return -ENODATA;
	r = open_file(reader, NULL);
	return r < 0 ? -ENODATA : 0;
}

/* Reads more. 0: something new, or a new file; -ENODATA: the end for now. */
static int fill(struct audit_reader *reader, struct failure *failure)
{
	ssize_t n;
	int r;

	r = make_room(reader);
	if (r < 0)
		return failure_set(failure, r, "no memory to read %s", reader->path);
	do
		n = pread(reader->fd, reader->data + reader->end, reader->capacity - reader->end,
			  (off_t)reader->offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return failure_set(failure, errno, "cannot read %s: %m", reader->path);
	if (n == 0)
		return look_again(reader, failure);
	reader->end += (size_t)n;
	reader->offset += (uint64_t)n;
	return 0;
}

/* The next whole line, valid until the next call. */
static int next_line(struct audit_reader *reader, const char **ret_line, size_t *ret_size,
		     struct failure *failure)
{
	size_t searched = 0;
	int r;

	for (;;) {
		size_t held = reader->end - reader->start;
		const char *from = reader->data + reader->start;
		const char *newline =
			held > searched ? memchr(from + searched, '\n', held - searched) : NULL;

		if (newline) {
			size_t size = (size_t)(newline - from);

			reader->start += size + 1;
			reader->line++;
			if (!reader->skipping) {
				*ret_line = from;
				*ret_size = size;
				return 0;
			}
			reader->skipping = false;
			return failure_set(failure, EBADMSG,
					   "%s:%llu: the line is longer than any record",
					   reader->path, (unsigned long long)reader->line);
		}
		if (held > CHAIN_LINE_MAX) {
			reader->skipping = true;
			reader->start = reader->end = 0;
			held = 0;
		}
		searched = held;
		r = fill(reader, failure);
		if (r < 0)
			return r;
		/* A new file may have taken the place of this one. */
		if (reader->end - reader->start < searched)
			searched = 0;
	}
}

/* The place in front of a failure's text. */
static int bad_line(const struct audit_reader *reader, struct failure *failure, const char *why)
{
	return failure_set(failure, EBADMSG, "%s:%llu: %s", reader->path,
			   (unsigned long long)reader->line, why);
}

static int check_chain(struct audit_reader *reader, const char *line, size_t size,
		       struct failure *failure)
{
	unsigned char claimed[SHA256_SIZE], computed[SHA256_SIZE], previous[SHA256_SIZE];
	uint64_t sequence, expected = reader->sequence + 1;
	bool anchored = reader->anchored;
	size_t body;
	int r;

	r = chain_split(line, size, &body, &sequence, claimed);
	/* The next line is checked against the one before this: was this one put in, or changed? */
	if (r < 0)
		return bad_line(reader, failure, "the line is not a record of a log");
	memcpy(previous, reader->chain, sizeof(previous));
	/* Whatever is wrong with this line, the next one is checked against it. */
	reader->anchored = true;
	reader->sequence = sequence;
	memcpy(reader->chain, claimed, sizeof(claimed));
	if (!anchored)
		return 0;
	r = chain_digest(reader->hash, previous, line, body, computed);
	if (r < 0)
		return failure_set(failure, r, "cannot compute SHA-256: %m");
	if (sequence > expected)
		return failure_set(failure, EBADMSG,
				   "%s:%llu: seq %llu follows seq %llu: %llu missing", reader->path,
				   (unsigned long long)reader->line, (unsigned long long)sequence,
				   (unsigned long long)expected - 1,
				   (unsigned long long)(sequence - expected));
	if (sequence < expected)
		return failure_set(failure, EBADMSG,
				   "%s:%llu: seq %llu follows seq %llu: repeated or moved",
				   reader->path, (unsigned long long)reader->line,
				   (unsigned long long)sequence, (unsigned long long)expected - 1);
	if (memcmp(claimed, computed, sizeof(claimed)) != 0)
		return bad_line(
			reader, failure,
			"the chain is broken: this record or the one before it was changed");
	return 0;
}

int audit_reader_next(struct audit_reader *reader, json_t **ret_record, struct failure *failure)
{
	_cleanup_(reader_json_decrefp) json_t *record = NULL;
	const char *line;
	size_t size;
	int r;

	r = next_line(reader, &line, &size, failure);
	if (r < 0)
		return r;
	r = check_chain(reader, line, size, failure);
	if (r < 0)
		return r;
	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(record))
		return bad_line(reader, failure, "the line is not JSON");
	*ret_record = TAKE_PTR(record);
	return 0;
}

/* A last line without its newline. */
static void check_end(struct audit_reader *reader, struct audit_verification *result,
		      void (*problem)(void *data, const char *text), void *data)
{
	char text[128];

	result->torn_bytes = reader->end - reader->start;
	if (result->torn_bytes == 0 || segment_has_writer(reader->directory))
		return;
	snprintf(text, sizeof(text), "the last line is cut off: %llu bytes of it are there",
		 (unsigned long long)result->torn_bytes);
	result->problems++;
	problem(data, text);
}

int audit_reader_verify(struct audit_reader *reader, void (*problem)(void *data, const char *text),
			void *data, struct audit_verification *ret, struct failure *failure)
{
	struct audit_verification result = {0};
	int r;

	for (;;) {
		_cleanup_(reader_json_decrefp) json_t *record = NULL;
		struct failure why = {0};

		r = audit_reader_next(reader, &record, &why);
		if (r == -ENODATA)
			break;
		if (r < 0 && r != -EBADMSG)
			return failure_set(failure, r, "%s", why.text);
		if (r == 0) {
			result.records++;
			continue;
		}
		result.problems++;
		problem(data, why.text);
	}
	check_end(reader, &result, problem, data);
	result.segments = reader->segments;
	result.sequence = reader->sequence;
	memcpy(result.chain, reader->chain, sizeof(result.chain));
	*ret = result;
	return 0;
}
