/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log directory back, record by record, checking the chain on the way. */
#include "audit/read/reader.h"

#include <inttypes.h>
#include <string.h>

#include "audit/read/check.h"
#include "audit/read/damage.h"
#include "audit/read/lines.h"
#include "audit/record/identity.h"
#include "audit/storage/chain.h"
#include "audit/storage/segment.h"

DEFINE_CLEANUP(json_t *, json_decref, reader_json_decrefp)

struct audit_reader {
	struct lines *lines;
	struct check check;
	char log[UUID_TEXT_SIZE]; /* its id, once a record has said it */
	char host[IDENTITY_HOST_SIZE];
};

void audit_reader_close(struct audit_reader *reader)
{
	lines_closep(&reader->lines);
	check_release(&reader->check);
	free(reader);
}

int audit_reader_open(const char *directory, struct audit_reader **ret_reader,
		      struct failure *failure)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	r = check_init(&reader->check);
	if (r == 0)
		r = lines_open(directory, false, &reader->lines, failure);
	if (r < 0)
		return r;
	*ret_reader = TAKE_PTR(reader);
	return 0;
}

static void note_identity(struct audit_reader *reader, const char *line, size_t size)
{
	const char *text;
	size_t text_size;

	if (identity_of_line(line, size, reader->log, &text, &text_size) &&
	    !identity_host_of_text(text, text_size, reader->host))
		reader->host[0] = '\0';
}

const char *audit_reader_host(const struct audit_reader *reader)
{
	return reader->host;
}

int audit_reader_next_line(struct audit_reader *reader, const char **ret_line, size_t *ret_size,
			   struct failure *failure)
{
	int r;

	*ret_line = NULL;
	r = lines_next(reader->lines, ret_line, ret_size, failure);
	if (r < 0)
		return r;
	note_identity(reader, *ret_line, *ret_size);
	return check_line(&reader->check, reader->lines, *ret_line, *ret_size, failure);
}

void audit_reader_position(const struct audit_reader *reader, struct audit_cursor *ret_cursor)
{
	const struct check *check = &reader->check;

	*ret_cursor = (struct audit_cursor){.sequence = check->sequence, .known = check->begun};
	memcpy(ret_cursor->log, reader->log, sizeof(reader->log));
	memcpy(ret_cursor->chain, check->chain, SHA256_SIZE);
}

/* Is the line, which has the cursor's number, the one that was read? */
static int recognise(struct audit_reader *reader, const struct audit_cursor *cursor,
		     const char *line, size_t size, struct failure *failure)
{
	unsigned char chain[SHA256_SIZE];
	uint64_t sequence;
	size_t body;

	if (chain_split(line, size, &body, &sequence, chain) < 0 ||
	    (cursor->known && memcmp(chain, cursor->chain, sizeof(chain)) != 0))
		return failure_set(failure, ESTALE,
				   "%s:%" PRIu64 ": the record of seq %" PRIu64
				   " is not the one that was read: the log was rewritten",
				   lines_path(reader->lines), lines_number(reader->lines),
				   cursor->sequence);
	if (cursor->log[0] && reader->log[0] && strcmp(cursor->log, reader->log) != 0)
		return failure_set(failure, ESTALE, "the log in %s is %s, and %s was read",
				   lines_directory(reader->lines), reader->log, cursor->log);
	check_anchor(&reader->check, sequence, chain);
	(void)lines_take_event(reader->lines);
	return 0;
}

/* Reads up to the cursor's record. 1: the log begins behind it, at *ret_first. */
static int seek(struct audit_reader *reader, const struct audit_cursor *cursor, uint64_t *ret_first,
		struct failure *failure)
{
	uint64_t sequence = 0;
	const char *line;
	size_t size;
	int r;

	for (;;) {
		r = lines_next(reader->lines, &line, &size, failure);
		if (r == -EBADMSG)
			continue;
		if (r == -ENODATA)
			return failure_set(failure, ESTALE,
					   "the log in %s ends with seq %" PRIu64
					   ", and seq %" PRIu64
					   " was read: it was cut off, or is another log",
					   lines_directory(reader->lines), sequence,
					   cursor->sequence);
		if (r < 0)
			return r;
		note_identity(reader, line, size);
		if (chain_sequence(line, size, &sequence) < 0 || sequence < cursor->sequence)
			continue;
		*ret_first = sequence;
		return sequence > cursor->sequence ? 1
						   : recognise(reader, cursor, line, size, failure);
	}
}

/* The records up to the cursor's are deleted: goes on with the oldest that is left. */
static int open_behind(const char *directory, const struct audit_cursor *cursor, uint64_t first,
		       struct audit_reader **ret_reader, uint64_t *ret_missing,
		       struct failure *failure)
{
	int r = audit_reader_open(directory, ret_reader, failure);

	if (r < 0)
		return r;
	*ret_missing = first - cursor->sequence - 1;
	if (*ret_missing == 0 && cursor->known)
		check_anchor(&(*ret_reader)->check, cursor->sequence, cursor->chain);
	return 0;
}

/*
 * A segment that is closed between looking and opening makes the log seem to begin behind the
 * cursor.
 */
#define SEEK_ATTEMPTS 3

int audit_reader_open_after(const char *directory, const struct audit_cursor *cursor,
			    struct audit_reader **ret_reader, uint64_t *ret_missing,
			    struct failure *failure)
{
	uint64_t first = 0;

	*ret_missing = 0;
	if (cursor->sequence == 0)
		return audit_reader_open(directory, ret_reader, failure);
	for (int attempt = 0; attempt < SEEK_ATTEMPTS; attempt++) {
		_cleanup_(audit_reader_closep) struct audit_reader *reader =
			calloc(1, sizeof(*reader));
		int r = reader ? check_init(&reader->check) : -ENOMEM;

		if (r == 0)
			r = lines_open_at(directory, cursor->sequence, &reader->lines, failure);
		if (r == 0)
			r = seek(reader, cursor, &first, failure);
		if (r < 0)
			return r;
		if (r == 0) {
			*ret_reader = TAKE_PTR(reader);
			return 0;
		}
	}
	return open_behind(directory, cursor, first, ret_reader, ret_missing, failure);
}

int audit_reader_next(struct audit_reader *reader, json_t **ret_record, struct failure *failure)
{
	_cleanup_(reader_json_decrefp) json_t *record = NULL;
	struct failure why = {};
	const char *line;
	size_t size;
	int r;

	*ret_record = NULL;
	r = audit_reader_next_line(reader, &line, &size, &why);
	if (r < 0 && failure)
		*failure = why;
	if (r < 0 && (r != -EBADMSG || !line))
		return r;
	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(record))
		return r < 0 ? r
			     : failure_set(failure, EBADMSG, "%s:%" PRIu64 ": the line is not JSON",
					   lines_path(reader->lines), lines_number(reader->lines));
	if (r < 0 && damage_mark(record, why.text) < 0)
		return -ENOMEM;
	*ret_record = TAKE_PTR(record);
	return r;
}

struct problems {
	void (*handler)(void *data, const char *text);
	void *data;
	uint64_t count;
};

static void tell(struct problems *problems, const char *text)
{
	problems->count++;
	problems->handler(problems->data, text);
}

/* The beginning of the log. */
static void check_beginning(const struct check *check, struct problems *problems)
{
	char text[128];

	if (!check->begun || check->first == 1)
		return;
	snprintf(text, sizeof(text), "the log begins with seq %" PRIu64 ": %" PRIu64 " missing",
		 check->first, check->first - 1);
	tell(problems, text);
}

/* A last line without its newline. */
static void check_end(struct audit_reader *reader, uint64_t torn, struct problems *problems)
{
	char text[128];

	if (torn == 0 || segment_has_writer(lines_directory(reader->lines)))
		return;
	snprintf(text, sizeof(text), "the last line is cut off: %" PRIu64 " bytes of it are there",
		 torn);
	tell(problems, text);
}

int audit_reader_verify(struct audit_reader *reader, void (*problem)(void *data, const char *text),
			void *data, struct audit_verification *ret, struct failure *failure)
{
	struct problems problems = {.handler = problem, .data = data};
	struct audit_verification result = {0};
	int r;

	for (;;) {
		struct failure why = {0};
		const char *line;
		size_t size;

		r = audit_reader_next_line(reader, &line, &size, &why);
		if (r == -ENODATA)
			break;
		if (r < 0 && r != -EBADMSG)
			return failure_set(failure, r, "%s", why.text);
		if (r == 0)
			result.records++;
		else
			tell(&problems, why.text);
	}
	check_beginning(&reader->check, &problems);
	result.torn_bytes = lines_torn(reader->lines);
	check_end(reader, result.torn_bytes, &problems);
	result.problems = problems.count;
	result.segments = lines_segment_count(reader->lines);
	result.sequence = reader->check.sequence;
	memcpy(result.chain, reader->check.chain, sizeof(result.chain));
	*ret = result;
	return 0;
}
