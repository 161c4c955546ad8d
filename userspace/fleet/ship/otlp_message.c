/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a batch of lines as OTLP in JSON. */
#include "fleet/ship/otlp_message.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/text/json_text.h"
#include "base/cleanup.h"
#include "base/clock.h"

DEFINE_CLEANUP(json_t *, json_decref, otlp_json_decrefp)

/* As OpenTelemetry numbers severities. */
#define SEVERITY_INFO 9
#define SEVERITY_WARN 13

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

	/* Numbers of 64 bits are strings in this encoding. */
	buffer_add(out, digits,
		   (size_t)snprintf(digits, sizeof(digits), "\"%" PRIu64 "\"", number));
}

/* {"seq":N,"@timestamp":"...": always in this order. */
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

/* What stands before and behind the records of one log. */
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

static int add_line(struct buffer *out, enum batch_lane lane, const char *line, size_t size)
{
	static const char *const warnings[] = {"\"action\":\"denial\"", "\"action\":\"attempt\""};
	size_t head = size < 160 ? size : 160;
	bool warns = memmem(line, head, warnings[0], strlen(warnings[0])) ||
		     memmem(line, head, warnings[1], strlen(warnings[1]));
	uint64_t sequence, time;

	if (chain_sequence(line, size, &sequence) < 0 || time_of(line, size, &time) < 0)
		return -EBADMSG;
	add_head(out, time, warns);
	(void)json_text_string(out, line, size);
	buffer_literal(out, "},\"attributes\":[{\"key\":\"cordon.seq\",\"value\":{\"intValue\":");
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
