/* SPDX-License-Identifier: Apache-2.0 */
/* What a collector is sent, and what is understood of its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "fleet/ship/otlp_message.h"

#define LINE(seq, action)                                                                          \
	"{\"seq\":" seq ",\"@timestamp\":\"2026-11-25T00:00:00.000000001Z\","                      \
	"\"event\":{\"kind\":\"event\",\"action\":\"" action "\",\"outcome\":\"success\"},"        \
	"\"file\":{\"path\":\"/a\\\"b\\\\c\\u0001\"}}"

static struct batch make_batch(const char *const *lines)
{
	struct batch batch = {.host = "5c04cde4a12c886ff55ccaac34f5aebf",
			      .log = "01a2013c-58d6-7f6f-8e64-000000000001"};

	for (uint64_t i = 0; lines[i]; i++)
		assert_int_equal(batch_add(&batch, i + 1, lines[i], strlen(lines[i])), 0);
	return batch;
}

static const char *attribute(const json_t *list, const char *key, const char *type)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (strcmp(json_string_value(json_object_get(item, "key")), key) == 0)
			return json_string_value(
				json_object_get(json_object_get(item, "value"), type));
	return NULL;
}

static void exact_lines(void **state)
{
	static const char *const lines[] = {LINE("1", "denial"), LINE("2", "process-exec"), NULL};
	struct batch batch = make_batch(lines);
	struct buffer body = {};
	const json_t *resource, *records, *attributes;
	json_t *message;

	(void)state;
	assert_int_equal(otlp_message(&batch, &body), 0);
	message = json_loadb(body.data, body.size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(message);
	resource = json_array_get(json_object_get(message, "resourceLogs"), 0);
	attributes = json_object_get(json_object_get(resource, "resource"), "attributes");
	assert_string_equal(attribute(attributes, "host.id", "stringValue"), batch.host);
	assert_string_equal(attribute(attributes, "cordon.log", "stringValue"), batch.log);
	assert_string_equal(attribute(attributes, "service.name", "stringValue"), "cordon");
	records = json_object_get(json_array_get(json_object_get(resource, "scopeLogs"), 0),
				  "logRecords");
	assert_int_equal(json_array_size(records), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *record = json_array_get(records, i);
		const char *sequence =
			attribute(json_object_get(record, "attributes"), "cordon.seq", "intValue");

		assert_string_equal(json_string_value(json_object_get(
					    json_object_get(record, "body"), "stringValue")),
				    lines[i]);
		assert_string_equal(json_string_value(json_object_get(record, "timeUnixNano")),
				    "1795564800000000001");
		assert_string_equal(sequence, i == 0 ? "1" : "2");
		assert_int_equal(json_integer_value(json_object_get(record, "severityNumber")),
				 i == 0 ? 13 : 9);
		assert_string_equal(json_string_value(json_object_get(record, "eventName")),
				    i == 0 ? "cordon.denial" : "cordon.process-exec");
		assert_null(json_object_get(record, "traceId"));
	}
	json_decref(message);
	buffer_free(&body);
	batch_release(&batch);
}

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define CALLER "\"caller\":{\"trace_id\":\"" TRACE "\",\"span_id\":\"00f067aa0ba902b7\"}"
/* As a name that was chosen to look like it comes out. */
#define FORGED                                                                                     \
	"\"name\":\"\\\"caller\\\":{\\\"trace_id\\\":\\\"" TRACE "\\\",\\\"span_id\\\":\\\"1\\\"}\""
#define START(member)                                                                              \
	"{\"seq\":1,\"@timestamp\":\"2026-11-25T00:00:00.000000001Z\","                            \
	"\"event\":{\"kind\":\"event\",\"action\":\"execution-start\"},\"cordon\":{" member "}}"
#define LONG "0123456789012345678901234567890123456789"

/* The caller's trace is the record's, and no name can say another one. */
static void caller_trace(void **state)
{
	static const struct {
		const char *line, *trace, *span;
	} cases[] = {
		{START(CALLER), TRACE, "00f067aa0ba902b7"},
		{START(FORGED), NULL, NULL},
		{START(FORGED "," CALLER), TRACE, "00f067aa0ba902b7"},
		{START("\"caller\":{\"conversation_id\":\"c\"}"), NULL, NULL},
		{START("\"caller\":{\"trace_id\":\"" LONG "\",\"span_id\":\"1\"}"), NULL, NULL},
		{START("\"caller\":{\"trace_id\":\"" TRACE "\"}"), NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const lines[] = {cases[i].line, NULL};
		struct batch batch = make_batch(lines);
		struct buffer body = {};
		const char *trace = NULL, *span = NULL;
		json_t *message;

		assert_int_equal(otlp_message(&batch, &body), 0);
		message = json_loadb(body.data, body.size, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(message);
		(void)json_unpack(message, "{s:[{s:[{s:[{s?s,s?s}]}]}]}", "resourceLogs",
				  "scopeLogs", "logRecords", "traceId", &trace, "spanId", &span);
		if (cases[i].trace) {
			assert_string_equal(trace, cases[i].trace);
			assert_string_equal(span, cases[i].span);
		} else {
			assert_null(trace);
			assert_null(span);
		}
		json_decref(message);
		buffer_free(&body);
		batch_release(&batch);
	}
}

/* Those that come ahead say so, since each comes once more. */
static void first_lane(void **state)
{
	static const char *const lines[] = {LINE("7", "denial"), NULL};
	struct batch batch = make_batch(lines);
	struct buffer body = {};

	(void)state;
	assert_int_equal(otlp_message(&batch, &body), 0);
	assert_null(memmem(body.data, body.size, "cordon.lane", 11));
	batch.lane = BATCH_FIRST;
	assert_int_equal(otlp_message(&batch, &body), 0);
	assert_non_null(
		memmem(body.data, body.size,
		       "{\"key\":\"cordon.lane\",\"value\":{\"stringValue\":\"first\"}}",
		       strlen("{\"key\":\"cordon.lane\",\"value\":{\"stringValue\":\"first\"}}")));
	buffer_free(&body);
	batch_release(&batch);
}

static json_t *presence_record(const struct presence *presence, json_t **ret_message)
{
	struct buffer body = {};
	json_t *scope;

	assert_int_equal(otlp_presence_message(presence, 17, &body), 0);
	*ret_message = json_loadb(body.data, body.size, JSON_REJECT_DUPLICATES, NULL);
	buffer_free(&body);
	assert_non_null(*ret_message);
	scope = json_array_get(
		json_object_get(json_array_get(json_object_get(*ret_message, "resourceLogs"), 0),
				"scopeLogs"),
		0);
	return json_array_get(json_object_get(scope, "logRecords"), 0);
}

static void words_of_presence(void **state)
{
	struct presence presence = {.host = "5c04cde4a12c886ff55ccaac34f5aebf",
				    .log = "01a2013c-58d6-7f6f-8e64-000000000001",
				    .acknowledged = 9};
	char text[PRESENCE_TEXT_SIZE];
	json_t *message, *record = presence_record(&presence, &message);

	(void)state;
	presence_text(&presence, text);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(record, "body"), "stringValue")),
		text);
	assert_string_equal(json_string_value(json_object_get(record, "timeUnixNano")), "17");
	assert_int_equal(json_integer_value(json_object_get(record, "severityNumber")), 9);
	assert_string_equal(attribute(json_object_get(record, "attributes"), "event.name",
				      "stringValue"),
			    "cordon.presence");
	json_decref(message);
	presence.daemon = PRESENCE_KILLED;
	record = presence_record(&presence, &message);
	assert_int_equal(json_integer_value(json_object_get(record, "severityNumber")), 13);
	json_decref(message);
}

static void no_records(void **state)
{
	static const char *const lines[][2] = {
		{"{}", NULL},
		{"{\"seq\":1}", NULL},
		{"{\"seq\":1,\"@timestamp\":\"yesterday, as far as anybody can tell..\"}", NULL},
		{"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct batch batch = make_batch(lines[i]);
		struct buffer body = {};

		assert_int_equal(otlp_message(&batch, &body), -EBADMSG);
		buffer_free(&body);
		batch_release(&batch);
	}
}

static uint64_t refused(const char *answer, const char *expected)
{
	_cleanup_(freep) char *why = NULL;
	uint64_t count = otlp_refused(answer, strlen(answer), &why);

	if (expected)
		assert_string_equal(why, expected);
	else
		assert_null(why);
	return count;
}

static void answers(void **state)
{
	(void)state;
	assert_int_equal(refused("", NULL), 0);
	assert_int_equal(refused("{}", NULL), 0);
	assert_int_equal(refused("<html>", NULL), 0);
	assert_int_equal(refused("{\"partialSuccess\":{}}", NULL), 0);
	assert_int_equal(refused("{\"partialSuccess\":{\"rejectedLogRecords\":\"7\","
				 "\"errorMessage\":\"too old\"}}",
				 "too old"),
			 7);
	assert_int_equal(refused("{\"partialSuccess\":{\"rejectedLogRecords\":7}}", NULL), 7);
	assert_int_equal(refused("{\"partialSuccess\":{\"rejectedLogRecords\":-7}}", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_lines), cmocka_unit_test(caller_trace),
		cmocka_unit_test(first_lane),  cmocka_unit_test(words_of_presence),
		cmocka_unit_test(no_records),  cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
