/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused, for a model: a sentence each, and the rule to propose. */
#include "cli/mcp/refusals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/text/buffer.h"

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Where the report has no rule it says why instead; `why` has that beside it. */
static void write_reason(struct buffer *out, const json_t *denial)
{
	const json_t *rule = json_object_get(denial, "rule");
	const char *file = text_of(rule, "file"), *message = text_of(denial, "message");
	const char *reason = text_of(denial, "reason_text");

	if (file) {
		buffer_literal(out, ", by the rule in ");
		buffer_string(out, file);
		buffer_print(out, ":%" JSON_INTEGER_FORMAT,
			     json_integer_value(json_object_get(rule, "line")));
	} else if (json_is_string(rule) || reason) {
		buffer_literal(out, ": ");
		buffer_string(out, json_is_string(rule) ? json_string_value(rule) : reason);
	}
	if (!message)
		message = text_of(rule, "message");
	if (message) {
		buffer_literal(out, " (\"");
		buffer_string(out, message);
		buffer_literal(out, "\")");
	}
}

static json_t *refusal(const json_t *denial)
{
	const char *what = text_of(denial, "what"), *why_not = text_of(denial, "why_not");
	const char *rules = text_of(denial, "how_to_ask");
	struct buffer sentence = {};
	json_t *made = NULL;

	if (!rules)
		rules = text_of(denial, "smallest_rule");
	buffer_string(&sentence, what ? what : "something was denied");
	write_reason(&sentence, denial);
	if (!rules && why_not) {
		buffer_literal(&sentence, "; it cannot be proposed: ");
		buffer_string(&sentence, why_not);
	}
	buffer_literal(&sentence, ".");
	if (!sentence.failed)
		made = json_pack("{s:o,s:s?,s:I}", "sentence",
				 json_stringn(sentence.data, sentence.size), "proposal", rules,
				 "count", json_integer_value(json_object_get(denial, "count")));
	buffer_free(&sentence);
	return made;
}

json_t *refusals_of(const json_t *denials, size_t limit)
{
	json_t *list = json_array();
	const json_t *denial;
	size_t i;

	json_array_foreach(denials, i, denial) {
		if (i == limit)
			break;
		if (json_array_append_new(list, refusal(denial)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Each line of the rules, a little to the right. */
static void write_rules(struct buffer *out, const char *head, const char *rules)
{
	buffer_string(out, head);
	while (*rules) {
		size_t length = strcspn(rules, "\n");

		buffer_literal(out, "    ");
		buffer_add(out, rules, length);
		buffer_literal(out, "\n");
		rules += length + (rules[length] == '\n');
	}
}

static void write_proposal(struct buffer *out, const json_t *proposal)
{
	const char *policy = text_of(proposal, "policy"), *text = text_of(proposal, "amendment");
	const json_t *notes = json_object_get(proposal, "notes"), *note;
	size_t i;

	if (policy)
		buffer_print(out, "The policy %s allows all of this.\n", policy);
	if (text)
		write_rules(out, "This would allow it, as one change of the policy:\n", text);
	json_array_foreach(notes, i, note)
		if (json_is_string(note))
			buffer_print(out, "note: %s\n", json_string_value(note));
}

char *refusals_text(const json_t *refusals, json_int_t omitted, const json_t *proposal)
{
	bool together = text_of(proposal, "amendment") || text_of(proposal, "policy");
	struct buffer out = {};
	const json_t *refusal;
	size_t i;

	json_array_foreach(refusals, i, refusal) {
		json_int_t count = json_integer_value(json_object_get(refusal, "count"));
		const char *rules = text_of(refusal, "proposal");

		buffer_literal(&out, "- ");
		buffer_string(&out, text_of(refusal, "sentence"));
		if (count > 1)
			buffer_print(&out, " (%" JSON_INTEGER_FORMAT " times)", count);
		buffer_literal(&out, "\n");
		if (rules && !together)
			write_rules(&out, "  what would allow it:\n", rules);
	}
	if (omitted > 0)
		buffer_print(&out, "- and %" JSON_INTEGER_FORMAT " more\n", omitted);
	write_proposal(&out, proposal);
	buffer_add(&out, "", 1);
	if (out.failed)
		buffer_free(&out);
	return out.data;
}
