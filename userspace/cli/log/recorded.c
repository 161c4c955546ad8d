/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the executions that a command line names, and what the log recorded of them. */
#include "cli/log/recorded.h"

#include <ctype.h>
#include <string.h>

#include "audit/read/reader.h"
#include "base/uuid.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "insight/text/view.h"

struct scan {
	const struct recorded_choice *choice;
	json_t *ids;	  /* of chosen executions, as keys */
	json_t **matches; /* per word: ids that begin with it */
	uint64_t number;
	json_t *record; /* with that number */
	struct recording *recording;
	unsigned long long damaged;
};

int recorded_since(struct recorded_choice *choice, const char *text)
{
	if (moment_parse(text, clock_nsec(CLOCK_REALTIME), choice->since) < 0) {
		message("--since takes a time such as 2h, 7d, today, yesterday, 2026-11-22 or "
			"2026-11-22T03:11:00Z, not \"%s\"",
			text);
		return -EINVAL;
	}
	choice->have_since = true;
	return 0;
}

/* Calls `visit` for each well chained record. */
static int scan_log(struct scan *s, int (*visit)(struct scan *s, json_t *record))
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct failure failure = {0};
	int r;

	s->damaged = 0;
	r = audit_reader_open(s->choice->directory, &reader, &failure);
	while (r == 0) {
		json_t *record = NULL;

		failure.text[0] = '\0';
		r = audit_reader_next(reader, &record, &failure);
		if (r == 0)
			r = visit(s, record);
		else if (r == -EBADMSG)
			s->damaged++;
		if (r == -EBADMSG)
			r = 0;
		json_decref(record);
	}
	if (r == -ENODATA)
		return 0;
	message("%s", r == -ENOMEM ? "out of memory" : failure.text);
	return r;
}

static int choose(struct scan *s, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");
	const char *time = view_text(record, "@timestamp");
	const struct recorded_choice *c = s->choice;

	if (!id)
		return 0;
	for (size_t i = 0; i < c->word_count; i++) {
		bool last = strcmp(c->words[i], "last") == 0;

		if (last && view_is(record, "execution-start"))
			json_object_clear(s->matches[i]);
		else if (last || !uuid_is_named(id, strlen(id), c->words[i]))
			continue;
		json_object_set_new(s->matches[i], id, json_true());
	}
	/* Times are written alike, so that they sort as they are. */
	if (c->word_count == 0 && (!c->have_since || (time && strcmp(time, c->since) >= 0)) &&
	    view_is(record, "execution-start"))
		json_object_set_new(s->ids, id, json_true());
	return 0;
}

static int collect(struct scan *s, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	return id && json_object_get(s->ids, id) ? recording_add(s->recording, record) : 0;
}

static bool is_word(const char *word)
{
	return strcmp(word, "last") == 0 ||
	       (*word && strlen(word) < UUID_TEXT_SIZE &&
		strspn(word, "0123456789abcdefABCDEF-") == strlen(word));
}

/* Each word must mean one execution. */
static int take_matches(struct scan *s)
{
	for (size_t i = 0; i < s->choice->word_count; i++) {
		size_t count = json_object_size(s->matches[i]);
		const char *word = s->choice->words[i];

		if (count == 0) {
			message(strcmp(word, "last") == 0
					? "no execution is on record in %s"
					: "no execution in %s has an id that begins or ends with %s",
				s->choice->directory, word);
			return -ENOENT;
		}
		if (count > 1) {
			message("%zu executions have an id that begins or ends with %s; write more of it",
				count, word);
			return -EINVAL;
		}
		json_object_update(s->ids, s->matches[i]);
	}
	return 0;
}

static int scan_begin(struct scan *s)
{
	s->ids = json_object();
	s->recording = recording_new();
	s->matches = calloc(s->choice->word_count + 1, sizeof(*s->matches));
	for (size_t i = 0; s->matches && i < s->choice->word_count; i++) {
		if (!is_word(s->choice->words[i])) {
			message("\"%s\" is no id of an execution: give hexadecimal digits as `cordon "
				"events` shows them, or `last`",
				s->choice->words[i]);
			return -EINVAL;
		}
		s->matches[i] = json_object();
		if (!s->matches[i])
			return -ENOMEM;
	}
	return s->ids && s->recording && s->matches ? 0 : -ENOMEM;
}

static void scan_end(struct scan *s)
{
	for (size_t i = 0; s->matches && i < s->choice->word_count; i++)
		json_decref(s->matches[i]);
	free(s->matches);
	json_decref(s->ids);
	json_decref(s->record);
	if (s->recording)
		recording_free(s->recording);
	if (s->damaged)
		message("%llu lines of this log are damaged and left out: see `cordon log verify "
			"--log %s`",
			s->damaged, s->choice->directory);
}

int recorded_load(const struct recorded_choice *choice, struct recording **ret_recording)
{
	_cleanup_(scan_end) struct scan s = {.choice = choice};
	int r = scan_begin(&s);

	if (r == -ENOMEM)
		message("out of memory");
	if (r == 0)
		r = scan_log(&s, choose);
	if (r == 0)
		r = take_matches(&s);
	if (r == 0)
		r = scan_log(&s, collect);
	if (r == 0)
		*ret_recording = TAKE_PTR(s.recording);
	return r;
}

static int find_number(struct scan *s, json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	if (s->record || view_number(record, "seq") != s->number)
		return 0;
	s->record = json_incref(record);
	if (id)
		json_object_set_new(s->ids, id, json_true());
	return 0;
}

/* The record itself, and what its execution's variables stand for. */
static int collect_one(struct scan *s, json_t *record)
{
	if (!view_is(record, "execution-start") && view_number(record, "seq") != s->number)
		return 0;
	return collect(s, record);
}

int recorded_find(const char *directory, uint64_t number, json_t **ret_record,
		  struct recording **ret_recording)
{
	struct recorded_choice choice = {.directory = directory};
	_cleanup_(scan_end) struct scan s = {.choice = &choice, .number = number};
	int r = scan_begin(&s);

	if (r == -ENOMEM)
		message("out of memory");
	if (r == 0)
		r = scan_log(&s, find_number);
	if (r == 0 && !s.record) {
		message("there is no record %llu in %s", (unsigned long long)number, directory);
		r = -ENOENT;
	}
	if (r == 0)
		r = scan_log(&s, collect_one);
	if (r < 0)
		return r;
	*ret_record = TAKE_PTR(s.record);
	*ret_recording = TAKE_PTR(s.recording);
	return 0;
}
