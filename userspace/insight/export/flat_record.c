/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the members that exports need in a record's line. */
#include "insight/export/flat_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/text/json_text.h"
#include "insight/story/denials.h"

#define NAME_MAX_SIZE 32u /* maximum of the fields' names, with NUL */

static const char *const names[FLAT_FIELDS] = {
	[FLAT_SEQ] = "seq",
	[FLAT_CHAIN] = "chain",
	[FLAT_TIMESTAMP] = "@timestamp",
	[FLAT_HOST] = "host",
	[FLAT_RULE] = "rule",
	[FLAT_MESSAGE] = "message",
	[FLAT_ECS] = "ecs",
	[FLAT_EVENT] = "event",
	[FLAT_EVENT_ACTION] = "event.action",
	[FLAT_EVENT_OUTCOME] = "event.outcome",
	[FLAT_EVENT_DURATION] = "event.duration",
	[FLAT_EVENT_CATEGORY] = "event.category",
	[FLAT_EVENT_TYPE] = "event.type",
	[FLAT_EVENT_MODULE] = "event.module",
	[FLAT_EVENT_DATASET] = "event.dataset",
	[FLAT_EVENT_PROVIDER] = "event.provider",
	[FLAT_EVENT_SEQUENCE] = "event.sequence",
	[FLAT_EVENT_HASH] = "event.hash",
	[FLAT_EVENT_REASON] = "event.reason",
	[FLAT_PROCESS_PID] = "process.pid",
	[FLAT_PROCESS_ENTITY] = "process.entity_id",
	[FLAT_PROCESS_NAME] = "process.name",
	[FLAT_PROCESS_EXECUTABLE] = "process.executable",
	[FLAT_PROCESS_EXIT_CODE] = "process.exit_code",
	[FLAT_PROCESS_SIGNAL] = "process.signal",
	[FLAT_PARENT_PID] = "process.parent.pid",
	[FLAT_PARENT_ENTITY] = "process.parent.entity_id",
	[FLAT_USER] = "user.id",
	[FLAT_ERROR_MESSAGE] = "error.message",
	[FLAT_DESTINATION_IP] = "destination.ip",
	[FLAT_DESTINATION_DOMAIN] = "destination.domain",
	[FLAT_DESTINATION_PORT] = "destination.port",
	[FLAT_DESTINATION_BYTES] = "destination.bytes",
	[FLAT_DESTINATION_PACKETS] = "destination.packets",
	[FLAT_SOURCE_IP] = "source.ip",
	[FLAT_SOURCE_BYTES] = "source.bytes",
	[FLAT_SOURCE_PACKETS] = "source.packets",
	[FLAT_DIRECTION] = "cordon.traffic.direction",
	[FLAT_TRANSPORT] = "network.transport",
	[FLAT_QUESTION] = "dns.question.name",
	[FLAT_RESOLVED] = "dns.resolved_ip",
	[FLAT_CORDON] = "cordon",
	[FLAT_CORDON_SEQ] = "cordon.seq",
	[FLAT_CORDON_CHAIN] = "cordon.chain",
	[FLAT_CORDON_SIGNAL] = "cordon.signal",
	[FLAT_OPERATION] = "cordon.operation",
	[FLAT_OBJECT_KIND] = "cordon.object.kind",
	[FLAT_OBJECT_TEXT] = "cordon.object.text",
	[FLAT_RIGHTS] = "cordon.rights",
	[FLAT_REASON] = "cordon.reason",
	[FLAT_ERROR] = "cordon.error",
	[FLAT_REPEATS] = "cordon.repeats",
	[FLAT_CORDON_RULE] = "cordon.rule",
	[FLAT_RULE_NUMBER] = "cordon.rule.number",
	[FLAT_RULE_TEXT] = "cordon.rule.text",
	[FLAT_RULE_MESSAGE] = "cordon.rule.message",
	[FLAT_RULE_FILE] = "cordon.rule.file",
	[FLAT_RULE_LINE] = "cordon.rule.line",
	[FLAT_RULE_SEVERITY] = "cordon.rule.severity",
	[FLAT_POLICY_NAME] = "cordon.policy.name",
	[FLAT_POLICY_DIGEST] = "cordon.policy.digest",
	[FLAT_EXECUTION] = "cordon.execution.id",
	[FLAT_SESSION] = "cordon.execution.session",
	[FLAT_AGENT] = "cordon.execution.agent",
	[FLAT_PROGRAM] = "cordon.execution.program",
	[FLAT_TRACE] = "trace",
	[FLAT_SPAN] = "span",
	[FLAT_CALLER_TRACE] = "cordon.caller.trace_id",
	[FLAT_CALLER_SPAN] = "cordon.caller.span_id",
};

/* Linked lists of fields by the size of their names; FLAT_FIELDS ends a list. */
struct by_size {
	unsigned char first[NAME_MAX_SIZE], next[FLAT_FIELDS];
};

static void by_size_fill(struct by_size *lists)
{
	memset(lists, FLAT_FIELDS, sizeof(*lists));
	for (unsigned int i = 0; i < FLAT_FIELDS; i++) {
		size_t size = strlen(names[i]);

		lists->next[i] = lists->first[size];
		lists->first[size] = (unsigned char)i;
	}
}

static const struct by_size *by_size(void)
{
	static struct by_size lists;
	static bool filled;

	if (!filled)
		by_size_fill(&lists);
	filled = true;
	return &lists;
}

struct reading {
	struct flat_record *record;
	const struct by_size *lists;
};

static bool take_value(void *data, const char *name, size_t size, const struct plain_value *value)
{
	struct reading *r = data;
	unsigned int i = size < NAME_MAX_SIZE ? r->lists->first[size] : FLAT_FIELDS;

	for (; i < FLAT_FIELDS; i = r->lists->next[i]) {
		if (memcmp(names[i], name, size) != 0)
			continue;
		/* For a duplicate name the parser must decide which value counts. */
		if (r->record->values[i].data)
			return false;
		r->record->values[i] = *value;
		break;
	}
	return true;
}

bool flat_record_read(struct flat_record *ret_record, const char *line, size_t size)
{
	struct reading reading = {ret_record, by_size()};

	*ret_record = (struct flat_record){.line = line, .size = size};
	return plain_json_walk(line, size, take_value, &reading);
}

static int add(const char *text, size_t size, void *data)
{
	buffer_add(data, text, size);
	return 0;
}

int flat_record_of(struct flat_record *ret_record, struct buffer *text, const json_t *record)
{
	struct reading reading = {ret_record, by_size()};

	text->size = 0;
	if (json_dump_callback(record, add, text, JSON_COMPACT | JSON_ENSURE_ASCII) < 0 ||
	    text->failed)
		return -ENOMEM;
	*ret_record = (struct flat_record){.line = text->data, .size = text->size};
	return plain_json_walk_dumped(text->data, text->size, take_value, &reading) ? 0 : -EBADMSG;
}

const char *flat_name(enum flat_field field)
{
	const char *dot = strrchr(names[field], '.');

	return dot ? dot + 1 : names[field];
}

const struct plain_value *flat_text(const struct flat_record *f, enum flat_field field)
{
	const struct plain_value *value = &f->values[field];

	return value->data && value->kind == PLAIN_STRING ? value : NULL;
}

static bool is_word(const struct plain_value *value, const char *word)
{
	return strlen(word) == value->size && memcmp(value->data, word, value->size) == 0;
}

bool flat_is(const struct flat_record *f, enum flat_field field, const char *word)
{
	const struct plain_value *value = flat_text(f, field);

	return value && is_word(value, word);
}

bool flat_has_number(const struct flat_record *f, enum flat_field field)
{
	return f->values[field].data && f->values[field].kind == PLAIN_INTEGER;
}

uint64_t flat_number(const struct flat_record *f, enum flat_field field)
{
	uint64_t number = 0;

	if (!flat_has_number(f, field) || f->values[field].data[0] == '-')
		return 0;
	for (size_t i = 0; i < f->values[field].size; i++)
		number = number * 10 + (uint64_t)(f->values[field].data[i] - '0');
	return number;
}

bool flat_is_refused(const struct flat_record *f)
{
	return flat_is(f, FLAT_EVENT_ACTION, "denial") || flat_is(f, FLAT_EVENT_ACTION, "attempt");
}

bool flat_is_denial(const struct flat_record *f)
{
	return flat_is_refused(f) || flat_is(f, FLAT_EVENT_ACTION, "would-deny");
}

/* Returns the position after a string. */
static const char *skip_string(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
}

/* Returns the position after a list's value. */
static const char *skip_value(const char *at)
{
	unsigned int depth = 0;

	while (depth > 0 || (*at != ',' && *at != ']')) {
		if (*at == '"') {
			at = skip_string(at);
			continue;
		}
		depth += *at == '[' || *at == '{';
		depth -= *at == ']' || *at == '}';
		at++;
	}
	return at;
}

bool flat_next(const struct flat_record *f, enum flat_field list, struct plain_value *next)
{
	const struct plain_value *all = &f->values[list];
	const char *at;

	if (!all->data || all->kind != PLAIN_ARRAY)
		return false;
	at = next->data ? next->data + next->size + (next->kind == PLAIN_STRING) : all->data;
	if (*at == ']' || at[1] == ']')
		return false;
	at++;
	*next = (struct plain_value){PLAIN_WORD, at, (size_t)(skip_value(at) - at), false};
	if (*at == '"') {
		next->kind = PLAIN_STRING;
		next->data++;
		next->size -= 2;
	}
	return true;
}

void flat_put(struct buffer *out, const struct plain_value *value)
{
	size_t quote = value->kind == PLAIN_STRING;

	buffer_add(out, value->data - quote, value->size + 2 * quote);
}

void flat_put_text(struct buffer *out, const char *key, const struct flat_record *f,
		   enum flat_field field)
{
	const struct plain_value *value = flat_text(f, field);

	if (!value)
		return;
	json_text_key(out, key);
	flat_put(out, value);
}

static void put_words(struct buffer *out, const char *words, const struct plain_value *otherwise)
{
	if (words)
		buffer_string(out, words);
	else
		buffer_add(out, otherwise->data, otherwise->size);
}

void flat_put_phrase(struct buffer *out, const struct flat_record *f)
{
	const struct plain_value *operation = flat_text(f, FLAT_OPERATION);
	const struct plain_value *object = flat_text(f, FLAT_OBJECT_TEXT);
	static const struct plain_value unknown = {PLAIN_STRING, "?", 1, false};
	struct plain_value right = {};
	bool first = true;

	buffer_literal(out, "\"");
	for (; flat_next(f, FLAT_RIGHTS, &right); first = false) {
		const struct plain_value *shown = right.kind == PLAIN_STRING ? &right : &unknown;

		if (!first)
			buffer_literal(out, " and ");
		put_words(out, denial_right_words(shown->data, shown->size), shown);
	}
	if (first)
		put_words(out, denial_operation_words(operation->data, operation->size), operation);
	if (object && object->size > 0) {
		buffer_literal(out, " ");
		buffer_add(out, object->data, object->size);
	}
	if (flat_is_refused(f))
		buffer_literal(out, " was denied");
	else if (flat_is(f, FLAT_EVENT_ACTION, "would-deny"))
		buffer_literal(out, " would have been denied");
	buffer_literal(out, "\"");
}

const char *flat_reason(const struct flat_record *f)
{
	static const struct plain_value none = {.data = ""};
	const struct plain_value *reason = flat_text(f, FLAT_REASON);
	const struct plain_value *socket =
		flat_is(f, FLAT_OPERATION, "socket") ? flat_text(f, FLAT_OBJECT_TEXT) : NULL;

	reason = reason ? reason : &none;
	socket = socket ? socket : &none;
	return denial_reason_words(reason->data, reason->size, socket->data, socket->size);
}
