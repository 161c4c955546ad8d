/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/read/reader.h"

#include <inttypes.h>
#include <string.h>

#include "audit/read/check.h"
#include "audit/read/damage.h"
#include "audit/read/lines.h"
#include "audit/storage/segment.h"

DEFINE_CLEANUP(json_t *, json_decref, reader_json_decrefp)

struct audit_reader {
	struct lines *lines;
	struct check check;
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

static int next_line(struct audit_reader *reader, const char **ret_line, size_t *ret_size,
		     struct failure *failure)
{
	int r = lines_next(reader->lines, ret_line, ret_size, failure);

	return r < 0 ? r : check_line(&reader->check, reader->lines, *ret_line, *ret_size, failure);
}

int audit_reader_next(struct audit_reader *reader, json_t **ret_record, struct failure *failure)
{
	_cleanup_(reader_json_decrefp) json_t *record = NULL;
	struct failure why = {};
	const char *line = NULL;
	size_t size;
	int r;

	*ret_record = NULL;
	r = next_line(reader, &line, &size, &why);
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

		r = next_line(reader, &line, &size, &why);
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
