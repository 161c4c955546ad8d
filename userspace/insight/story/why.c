/* SPDX-License-Identifier: Apache-2.0 */
#include "insight/story/why.h"

#include <string.h>

#include "base/cleanup.h"
#include "insight/story/denials.h"
#include "insight/story/line.h"
#include "insight/text/view.h"

static const char note_refused[] =
	"The kernel refused this; trying again, or another way to the same object, changes nothing. If the "
	"work needs it, hand smallest_rule to whoever owns the policy, with the reason why it is needed.";
static const char note_nothing[] = "Nothing was refused.";

static json_t *copy_or_null(const json_t *record, const char *name)
{
	const json_t *value = view_field(record, name);

	return value ? json_deep_copy(value) : json_null();
}

/* Records that say the same, by their places in the log. */
static json_t *places_of(json_t *const *records, size_t count, const size_t *groups, size_t group)
{
	json_t *places = json_array();

	for (size_t i = 0; i < count; i++)
		if (groups[i] == group && json_array_size(places) < 100)
			json_array_append_new(places, copy_or_null(records[i], "seq"));
	return places;
}

static json_t *make_entry(const struct denial_group *group, json_t *places)
{
	_cleanup_(freep) char *what = denial_phrase(group->first);
	const json_t *r = group->first;

	return json_pack(
		"{s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:o}",
		"what", what, "seq", copy_or_null(r, "seq"), "@timestamp",
		copy_or_null(r, "@timestamp"), "execution", copy_or_null(r, "cordon.execution.id"),
		"process",
		json_pack("{s:o, s:o}", "pid", copy_or_null(r, "process.pid"), "name",
			  copy_or_null(r, "process.name")),
		"operation", copy_or_null(r, "cordon.operation"), "object",
		json_pack("{s:o, s:o, s:o}", "kind", copy_or_null(r, "cordon.object.kind"), "text",
			  copy_or_null(r, "cordon.object.text"), "transport",
			  copy_or_null(r, "network.transport")),
		"rights", copy_or_null(r, "cordon.rights"), "error",
		copy_or_null(r, "cordon.error"), "action", copy_or_null(r, "event.action"),
		"reason", copy_or_null(r, "cordon.reason"), "reason_text", denial_reason_phrase(r),
		"rule", copy_or_null(r, "cordon.rule"), "smallest_rule",
		copy_or_null(r, "cordon.suggestion.rule"), "why_not",
		copy_or_null(r, "cordon.suggestion.why"), "count", (json_int_t)group->count,
		/* What the kernel merged into these records. */
		"merged", (json_int_t)(group->count - json_array_size(places)), "records", places);
}

static json_t *make_list(json_t *const *records, size_t count, const struct denial_groups *groups,
			 const size_t *group_of, uint64_t *omitted)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < groups->count; i++) {
		if (i >= WHY_DENIALS_MAX) {
			*omitted += groups->items[i].count;
			continue;
		}
		if (json_array_append_new(list,
					  make_entry(&groups->items[i],
						     places_of(records, count, group_of, i))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *why_build(json_t *const *records, size_t count)
{
	_cleanup_(freep) size_t *group_of = calloc(count + 1, sizeof(*group_of));
	struct denial_groups groups = {0};
	uint64_t omitted = 0;
	json_t *list = NULL, *policy = NULL;
	int r = group_of ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++) {
		int is_new;

		group_of[i] = SIZE_MAX;
		if (!view_is_denial(records[i]))
			continue;
		if (!policy)
			policy = copy_or_null(records[i], "cordon.policy");
		r = denial_groups_add(&groups, records[i], &group_of[i], &is_new);
	}
	if (r == 0)
		list = make_list(records, count, &groups, group_of, &omitted);
	denial_groups_free(&groups);
	if (!list) {
		json_decref(policy);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:I, s:s}", "policy", policy ? policy : json_null(), "denials",
			 list, "denials_omitted", (json_int_t)omitted, "note",
			 json_array_size(list) > 0 ? note_refused : note_nothing);
}

bool why_question(const json_t *entry, struct why_question *ret_question)
{
	const char *right = json_string_value(json_array_get(json_object_get(entry, "rights"), 0));
	const char *kind = view_text(entry, "object.kind"), *text = view_text(entry, "object.text");
	const char *transport = view_text(entry, "object.transport");
	char *object = NULL;
	int n = -1;

	if (!right || !kind || !text || strcmp(right, "metadata") == 0)
		return false;
	if (strcmp(kind, "net") == 0)
		n = asprintf(&object, "%s:%s", transport ? transport : "tcp", text);
	else if (strcmp(kind, "abstract") == 0)
		n = asprintf(&object, "abstract:%s", text);
	else if (strcmp(kind, "path") == 0 || strcmp(kind, "special") == 0 ||
		 strcmp(kind, "socket") == 0)
		n = asprintf(&object, "%s", text);
	if (n < 0)
		return false;
	if (strcmp(right, "unix-connect") == 0)
		right = "connect";
	else if (strcmp(right, "unix-bind") == 0)
		right = "bind";
	*ret_question = (struct why_question){right, object};
	return true;
}

static void label(FILE *out, const struct style *style, const char *text)
{
	style_begin(out, style, STYLE_DIM);
	fprintf(out, "  %-9s ", text);
	style_end(out, style, STYLE_DIM);
}

static void write_rule(FILE *out, const struct style *style, const char *name, const json_t *rule)
{
	const char *file = view_text(rule, "file"), *text = view_text(rule, "text");
	const char *severity = view_text(rule, "severity"), *message = view_text(rule, "message");
	const json_t *tags = json_object_get(rule, "tags");
	size_t count = json_array_size(tags);

	label(out, style, name);
	style_text_in(out, style, STYLE_NAME, file ? file : "?", 0);
	fprintf(out, ":%llu", (unsigned long long)view_number(rule, "line"));
	if (severity) {
		fputs("  severity ", out);
		style_text(out, style, severity);
	}
	for (size_t i = 0; i < count; i++) {
		const char *tag = json_string_value(json_array_get(tags, i));

		fputs(i == 0 ? "  tags " : ", ", out);
		style_text(out, style, tag ? tag : "?");
	}
	fputc('\n', out);
	label(out, style, "");
	style_text(out, style, text ? text : "?");
	fputc('\n', out);
	if (message) {
		label(out, style, "message");
		style_text(out, style, message);
		fputc('\n', out);
	}
}

/* A text of more than one line. */
static void write_lines(FILE *out, const struct style *style, const char *name, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		label(out, style, name);
		style_text_in(out, style, STYLE_NAME, line ? line : "?", 0);
		fputc('\n', out);
		free(line);
		text += length + (text[length] == '\n');
		name = "";
	}
}

static void write_where(FILE *out, const struct style *style, const json_t *entry)
{
	const char *name = view_text(entry, "process.name"), *id = view_text(entry, "execution");
	char time[LINE_TIME_SIZE];
	uint64_t merged = view_number(entry, "merged");

	line_time(view_time(entry), true, time);
	label(out, style, "when");
	fprintf(out, "%s, seq %llu, by ", time, (unsigned long long)view_number(entry, "seq"));
	style_text(out, style, name ? name : "?");
	fprintf(out, "[%llu]", (unsigned long long)view_number(entry, "process.pid"));
	if (id) {
		fputs(" of ", out);
		style_text(out, style, id);
	}
	fputc('\n', out);
	if (view_number(entry, "count") <= 1)
		return;
	label(out, style, "how often");
	fprintf(out, "%llu times in %zu records", (unsigned long long)view_number(entry, "count"),
		json_array_size(json_object_get(entry, "records")));
	if (merged > 0)
		fprintf(out, ", of which the kernel merged %llu", (unsigned long long)merged);
	fputc('\n', out);
}

static void write_entry(FILE *out, const struct style *style, const json_t *entry)
{
	const char *what = view_text(entry, "what"), *error = view_text(entry, "error");
	const char *smallest = view_text(entry, "smallest_rule"),
		   *why_not = view_text(entry, "why_not");
	const json_t *rule = json_object_get(entry, "rule"), *others, *other;
	const char *action = view_text(entry, "action");
	bool denied = action && strcmp(action, "denial") == 0;
	size_t i;

	style_text_in(out, style, denied ? STYLE_BAD : STYLE_WARN, what ? what : "?", 0);
	if (error && denied) {
		fputs(" (", out);
		style_text(out, style, error);
		fputc(')', out);
	}
	fputc('\n', out);
	write_where(out, style, entry);
	label(out, style, "because");
	fprintf(out, "%s\n", view_text(entry, "reason_text"));
	if (json_is_object(rule))
		write_rule(out, style, "rule", rule);
	others = json_object_get(entry, "runners_up");
	json_array_foreach(others, i, other)
		write_rule(out, style, "also", other);
	if (smallest)
		write_lines(out, style, "allow by", smallest);
	if (why_not) {
		label(out, style, "no rule");
		style_text(out, style, why_not);
		fputc('\n', out);
	}
}

void why_write(FILE *out, const struct style *style, const json_t *why)
{
	const json_t *list = json_object_get(why, "denials"), *entry;
	size_t i;

	json_array_foreach(list, i, entry) {
		if (i > 0)
			fputc('\n', out);
		write_entry(out, style, entry);
	}
	if (view_number(why, "denials_omitted") > 0)
		fprintf(out, "\n... and %llu more\n",
			(unsigned long long)view_number(why, "denials_omitted"));
	if (json_array_size(list) == 0)
		fputs("nothing was refused\n", out);
}
