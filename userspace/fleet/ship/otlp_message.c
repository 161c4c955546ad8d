/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a batch of lines as OTLP in JSON. */
#include "fleet/ship/otlp_message.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "audit/record/trace_context.h"
#include "audit/storage/chain.h"
#include "audit/text/json_text.h"
#include "base/cleanup.h"
#include "base/clock.h"

DEFINE_CLEANUP(json_t *, json_decref, otlp_json_decrefp)

/* Severity numbers of OpenTelemetry's log data model. */
#define SEVERITY_INFO 9
#define SEVERITY_WARN 13

/* The members that every record has are within this many bytes of a line. */
#define HEAD_BYTES 160u
/* Larger than any action. */
#define ACTION_SIZE 64u

static void add_attribute(struct buffer *out, const char *key, const char *value)
{
	buffer_literal(out, "{\"key\":\"");
	buffer_string(out, key);
	buffer_literal(out, "\",\"value\":{\"stringValue\":");
	(void)json_text_string(out, value, strlen(value));
	buffer_literal(out, "}}");
}

static void add_number(struct buffer *out, uint64_t number)
{
	char digits[24];

	/* OTLP in JSON encodes 64-bit numbers as strings. */
	buffer_add(out, digits,
		   (size_t)snprintf(digits, sizeof(digits), "\"%" PRIu64 "\"", number));
}

/* Every line begins with {"seq":N,"@timestamp":"...". */
static int time_of(const char *line, size_t size, uint64_t *ret_time)
{
	static const char member[] = "\"@timestamp\":\"";
	char text[CLOCK_TEXT_SIZE];
	const char *at = memmem(line, size < 64 ? size : 64, member, sizeof(member) - 1);

	if (!at || (size_t)(line + size - at) < sizeof(member) - 1 + sizeof(text) - 1)
		return -EBADMSG;
	memcpy(text, at + sizeof(member) - 1, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	return clock_parse(text, ret_time) < 0 ? -EBADMSG : 0;
}

/* begin() and finish() write the parts around the records of one log. */
static void begin(struct buffer *out, const char *host, const char *log)
{
	out->size = 0;
	out->failed = false;
	buffer_literal(out, "{\"resourceLogs\":[{\"resource\":{\"attributes\":[");
	add_attribute(out, "service.name", "cordon");
	buffer_literal(out, ",");
	add_attribute(out, "host.id", host);
	buffer_literal(out, ",");
	add_attribute(out, "cordon.log", log);
	buffer_literal(out, "]},\"scopeLogs\":[{\"scope\":{\"name\":\"cordon-ship\"},"
			    "\"logRecords\":[");
}

static int finish(struct buffer *out)
{
	buffer_literal(out, "]}]}]}");
	return out->failed ? -ENOMEM : 0;
}

static void add_head(struct buffer *out, uint64_t time, bool warns)
{
	char severity[16];

	buffer_literal(out, "{\"timeUnixNano\":");
	add_number(out, time);
	buffer_literal(out, ",\"severityNumber\":");
	snprintf(severity, sizeof(severity), "%d", warns ? SEVERITY_WARN : SEVERITY_INFO);
	buffer_string(out, severity);
	buffer_literal(out, ",\"body\":{\"stringValue\":");
}

/*
 * Copies the string after `member`, which ends in a quotation mark. A string chosen by a task
 * cannot contain `member`, because its quotation marks are escaped. Returns false if `member` is
 * missing or its string exceeds `most` characters.
 */
static bool word_behind(const char *line, size_t size, const char *member, size_t most, char *ret)
{
	const char *at = memmem(line, size, member, strlen(member)), *end;

	if (!at)
		return false;
	at += strlen(member);
	end = memchr(at, '"', (size_t)(line + size - at));
	if (!end || (size_t)(end - at) > most)
		return false;
	memcpy(ret, at, (size_t)(end - at));
	ret[end - at] = '\0';
	return true;
}

/* Copies the caller's trace to the fields that OpenTelemetry has for it. */
static void add_trace(struct buffer *out, const char *line, size_t size)
{
	struct trace_context trace;

	if (!word_behind(line, size, "\"caller\":{\"trace_id\":\"", TRACE_ID_SIZE - 1,
			 trace.trace) ||
	    !word_behind(line, size, "\"span_id\":\"", TRACE_SPAN_SIZE - 1, trace.span))
		return;
	buffer_literal(out, ",\"traceId\":\"");
	buffer_string(out, trace.trace);
	buffer_literal(out, "\",\"spanId\":\"");
	buffer_string(out, trace.span);
	buffer_literal(out, "\"");
}

static int add_line(struct buffer *out, enum batch_lane lane, const char *line, size_t size)
{
	size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
	char action[ACTION_SIZE] = "";
	uint64_t sequence, time;
	bool warns;

	(void)word_behind(line, head, "\"action\":\"", sizeof(action) - 1, action);
	warns = strcmp(action, "denial") == 0 || strcmp(action, "attempt") == 0;

	if (chain_sequence(line, size, &sequence) < 0 || time_of(line, size, &time) < 0)
		return -EBADMSG;
	add_head(out, time, warns);
	(void)json_text_string(out, line, size);
	buffer_literal(out, "}");
	if (action[0]) {
		buffer_literal(out, ",\"eventName\":\"cordon.");
		buffer_string(out, action);
		buffer_literal(out, "\"");
	}
	if (strcmp(action, "execution-start") == 0)
		add_trace(out, line, size);
	buffer_literal(out, ",\"attributes\":[{\"key\":\"cordon.seq\",\"value\":{\"intValue\":");
	add_number(out, sequence);
	buffer_literal(out, "}}");
	if (lane == BATCH_FIRST) {
		buffer_literal(out, ",");
		add_attribute(out, "cordon.lane", "first");
	}
	buffer_literal(out, "]}");
	return 0;
}

int otlp_message(const struct batch *batch, struct buffer *ret)
{
	const char *line = batch->lines.data, *end = line + batch->lines.size;

	begin(ret, batch->host, batch->log);
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		int r;

		if (!newline)
			return -EBADMSG;
		if (line > batch->lines.data)
			buffer_literal(ret, ",");
		r = add_line(ret, batch->lane, line, (size_t)(newline - line));
		if (r < 0)
			return r;
		line = newline + 1;
	}
	return finish(ret);
}

int otlp_presence_message(const struct presence *presence, uint64_t time, struct buffer *ret)
{
	bool warns = presence->state == PRESENCE_REWRITTEN || presence->daemon == PRESENCE_KILLED;
	char text[PRESENCE_TEXT_SIZE];

	presence_text(presence, text);
	begin(ret, presence->host, presence->log);
	add_head(ret, time, warns);
	(void)json_text_string(ret, text, strlen(text));
	buffer_literal(ret, "},\"attributes\":[");
	add_attribute(ret, "event.name", "cordon.presence");
	buffer_literal(ret, "]}");
	return finish(ret);
}

uint64_t otlp_refused(const char *answer, size_t size, char **ret_why)
{
	_cleanup_(otlp_json_decrefp) json_t *object = json_loadb(answer, size, 0, NULL);
	const json_t *partial = json_object_get(object, "partialSuccess");
	const json_t *count = json_object_get(partial, "rejectedLogRecords");
	const char *why = json_string_value(json_object_get(partial, "errorMessage"));
	const char *digits = json_string_value(count);
	json_int_t number = json_integer_value(count);

	*ret_why = why && why[0] ? strdup(why) : NULL;
	if (digits)
		return strtoull(digits, NULL, 10);
	return number > 0 ? (uint64_t)number : 0;
}
