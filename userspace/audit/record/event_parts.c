/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the records of many events have in common once, as text. */
#include "audit/record/event_parts.h"

#include <string.h>

#include "audit/record/fields.h"
#include "audit/text/json_text.h"
#include "base/sha256.h"
#include "base/uuid.h"

/* As clock_format() has it. */
#define TIME_LENGTH (sizeof("1970-01-01T00:00:00.000000000Z") - 1)

void event_parts_release(struct event_parts *parts)
{
	buffer_free(&parts->execution);
	buffer_free(&parts->process);
	buffer_free(&parts->user);
	buffer_free(&parts->policy);
	buffer_free(&parts->rules);
	free(parts->rule);
	*parts = (struct event_parts){};
}

static void clear(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = false;
}

/* What could not be written whole is written anew the next time. */
static int take(struct buffer *part, struct buffer *out)
{
	if (part->failed) {
		clear(part);
		return -ENOMEM;
	}
	buffer_add(out, part->data, part->size);
	return 0;
}

void event_parts_time(struct event_parts *parts, uint64_t time, struct buffer *out)
{
	uint64_t second = time / NSEC_PER_SEC, nsec = time % NSEC_PER_SEC;
	char *digit = parts->time + TIME_LENGTH - 1;

	if (parts->time[0] && parts->second == second) {
		/* The nine digits before the Z. */
		for (int i = 0; i < 9; i++, nsec /= 10)
			*--digit = (char)('0' + nsec % 10);
	} else {
		clock_format(time, parts->time);
		parts->second = second;
	}
	buffer_add(out, parts->time, TIME_LENGTH);
}

static void write_entity(struct buffer *out, uint32_t pid, uint64_t start)
{
	buffer_literal(out, "\"pid\":");
	buffer_number(out, pid);
	buffer_literal(out, ",\"entity_id\":\"");
	buffer_number(out, pid);
	buffer_literal(out, "-");
	buffer_number(out, start);
	buffer_literal(out, "\"");
}

static void write_process(const struct cordon_event *event, struct buffer *out)
{
	write_entity(out, event->tgid, event->process_start);
	json_text_member(out, "name", event->comm, strnlen(event->comm, sizeof(event->comm)));
	buffer_literal(out, ",\"parent\":{");
	write_entity(out, event->parent_tgid, event->parent_start);
	buffer_literal(out, "},\"thread\":{\"id\":");
	buffer_number(out, event->tid);
	buffer_literal(out, "}");
}

static void write_user(const struct cordon_event *event, struct buffer *out)
{
	buffer_literal(out, ",\"user\":{\"id\":\"");
	buffer_number(out, event->uid);
	buffer_literal(out, "\"},\"group\":{\"id\":\"");
	buffer_number(out, event->gid);
	buffer_literal(out, "\"}");
}

int event_parts_process(struct event_parts *parts, const struct cordon_event *event,
			struct buffer *out)
{
	if (parts->process.size == 0 ||
	    memcmp(parts->process_key, &event->process_start, EVENT_PARTS_PROCESS_SIZE) != 0) {
		memcpy(parts->process_key, &event->process_start, EVENT_PARTS_PROCESS_SIZE);
		clear(&parts->process);
		clear(&parts->user);
		write_process(event, &parts->process);
		write_user(event, &parts->user);
	}
	return take(&parts->process, out);
}

int event_parts_user(struct event_parts *parts, struct buffer *out)
{
	if (parts->user.failed)
		clear(&parts->process);
	return take(&parts->user, out);
}

int event_parts_execution(struct event_parts *parts, const struct audit_execution *execution,
			  struct buffer *out)
{
	struct buffer *part = &parts->execution;
	char id[UUID_TEXT_SIZE];

	if (part->size > 0 &&
	    memcmp(parts->execution_id, execution->id, sizeof(parts->execution_id)) == 0)
		return take(part, out);
	memcpy(parts->execution_id, execution->id, sizeof(parts->execution_id));
	uuid_format(execution->id, id);
	clear(part);
	buffer_literal(part, ",\"cordon\":{\"schema\":");
	buffer_number(part, RECORD_SCHEMA);
	buffer_literal(part, ",\"execution\":{\"id\":\"");
	buffer_string(part, id);
	buffer_literal(part, "\"");
	json_text_member_string(part, "session", execution->session);
	json_text_member_string(part, "agent", execution->agent);
	buffer_literal(part, "}");
	return take(part, out);
}

/* Another policy may come to lie where one was: its tables tell them apart. */
static bool is_of(const struct event_parts *parts, const struct compiled_policy *policy)
{
	return parts->of == policy && parts->rule_count == policy->rule_count &&
	       memcmp(parts->digest, policy->digest, sizeof(parts->digest)) == 0;
}

static int begin_policy(struct event_parts *parts, const struct compiled_policy *policy)
{
	struct event_part *rule = NULL;

	if (is_of(parts, policy))
		return 0;
	if (policy->rule_count > 0) {
		rule = calloc(policy->rule_count, sizeof(*rule));
		if (!rule)
			return -ENOMEM;
	}
	free(parts->rule);
	parts->rule = rule;
	parts->rule_count = policy->rule_count;
	parts->of = policy;
	memcpy(parts->digest, policy->digest, sizeof(parts->digest));
	clear(&parts->policy);
	clear(&parts->rules);
	return 0;
}

int event_parts_policy(struct event_parts *parts, const struct compiled_policy *policy,
		       struct buffer *out)
{
	struct buffer *part = &parts->policy;
	int r = begin_policy(parts, policy);

	if (r < 0)
		return r;
	if (part->size == 0) {
		buffer_literal(part, ",\"policy\":{");
		json_text_member_string(part, "name", policy->name);
		json_text_member_string(part, "file", policy->file);
		buffer_literal(part, ",\"digest\":\"");
		buffer_hex(part, policy->digest, SHA256_SIZE);
		buffer_literal(part, "\"");
	}
	return take(part, out);
}

static void write_rule(const struct policy_rule *rule, uint16_t number, struct buffer *out)
{
	size_t tags = 0;

	buffer_literal(out, ",\"rule\":{\"number\":");
	buffer_number(out, number);
	if (rule) {
		while (rule->tags && rule->tags[tags])
			tags++;
		json_text_member_string(out, "file", rule->file);
		buffer_literal(out, ",\"line\":");
		buffer_number(out, rule->line);
		json_text_member_string(out, "text", rule->text);
		json_text_member_string(out, "message", rule->message);
		json_text_member_string(out, "severity", rule->severity);
		json_text_member_list(out, "tags", tags, (const char *const *)rule->tags);
	}
	buffer_literal(out, "}");
}

int event_parts_rule(struct event_parts *parts, const struct compiled_policy *policy,
		     uint16_t number, struct buffer *out)
{
	struct event_part *part;
	int r;

	if (number == CORDON_NO_RULE) {
		buffer_literal(out, ",\"rule\":null");
		return 0;
	}
	/* Of another policy than the one at hand: the number is all that is known. */
	if (number >= policy->rule_count) {
		write_rule(NULL, number, out);
		return 0;
	}
	r = begin_policy(parts, policy);
	if (r < 0)
		return r;
	part = &parts->rule[number];
	if (part->size == 0) {
		size_t start = parts->rules.size;

		parts->rules.failed = false;
		write_rule(&policy->rules[number], number, &parts->rules);
		if (parts->rules.failed) {
			parts->rules.size = start;
			return -ENOMEM;
		}
		*part = (struct event_part){start, parts->rules.size - start};
	}
	buffer_add(out, parts->rules.data + part->start, part->size);
	return 0;
}
