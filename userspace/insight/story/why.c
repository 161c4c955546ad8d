/* SPDX-License-Identifier: Apache-2.0 */
/* Explains denials afterwards, for people and for the agent that caused them. */
#include "insight/story/why.h"

#include <string.h>

#include "base/cleanup.h"
#include "insight/story/clusters.h"
#include "insight/story/line.h"
#include "insight/text/view.h"

static const char note_refused[] =
	"The kernel denied this; trying again, or another way to the same object, changes nothing. If the "
	"work needs it, hand smallest_rule to whoever owns the policy, with the reason why it is needed.";
static const char note_nothing[] = "Nothing was denied.";

static json_t *copy_or_null(const json_t *record, const char *name)
{
	const json_t *value = view_field(record, name);

	return value ? json_deep_copy(value) : json_null();
}

/* Lists the numbers of identical records. */
static int add_place(json_t **places, size_t group, const json_t *record)
{
	if (!places[group])
		places[group] = json_array();
	if (json_array_size(places[group]) >= 100)
		return 0;
	return json_array_append_new(places[group], copy_or_null(record, "seq")) < 0 ? -ENOMEM : 0;
}

/* `place`: a group of denials explained together, or NULL. */
static json_t *make_entry(const struct denial_group *group, const struct denial_place *place,
			  json_t *places)
{
	_cleanup_(freep) char *what = place ? denial_place_phrase(place)
					    : denial_phrase(group->first);
	_cleanup_(freep) char *rule = place ? denial_place_rule(place) : NULL;
	const json_t *r = group->first;
	uint64_t count = place ? place->count : group->count;

	return json_pack(
		"{s:s?, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:o}",
		"what", what, "damaged", view_damage(r), "seq", copy_or_null(r, "seq"),
		"@timestamp", copy_or_null(r, "@timestamp"), "execution",
		copy_or_null(r, "cordon.execution.id"), "process",
		json_pack("{s:o, s:o}", "pid", copy_or_null(r, "process.pid"), "name",
			  copy_or_null(r, "process.name")),
		"operation", copy_or_null(r, "cordon.operation"), "object",
		json_pack("{s:o, s:o, s:o, s:o}", "kind", copy_or_null(r, "cordon.object.kind"),
			  "text", copy_or_null(r, "cordon.object.text"), "case_insensitive",
			  copy_or_null(r, "cordon.object.case_insensitive"), "transport",
			  copy_or_null(r, "network.transport")),
		"rights", copy_or_null(r, "cordon.rights"), "error",
		copy_or_null(r, "cordon.error"), "action", copy_or_null(r, "event.action"),
		"reason", copy_or_null(r, "cordon.reason"), "reason_text", denial_reason_phrase(r),
		"rule", copy_or_null(r, "cordon.rule"), "smallest_rule",
		rule ? json_string(rule) : copy_or_null(r, "cordon.suggestion.rule"), "why_not",
		copy_or_null(r, "cordon.suggestion.why"), "count", (json_int_t)count,
		/* The number that the kernel merged into these records. */
		"merged", (json_int_t)(count - (place ? place->records : group->records)),
		"objects", (json_int_t)(place ? place->objects : 1), "records",
		json_incref(places));
}

struct list {
	json_t *made;
	json_t **places; /* per group */
	const struct denial_groups *groups;
	uint64_t omitted;
};

static int add_entry(struct list *l, const struct denial_group *group,
		     const struct denial_place *place)
{
	if (json_array_size(l->made) >= WHY_DENIALS_MAX) {
		l->omitted += place ? place->count : group->count;
		return 0;
	}
	return json_array_append_new(l->made, make_entry(group, place,
							 l->places[group - l->groups->items])) < 0
		       ? -ENOMEM
		       : 0;
}

/* The most severe denials come first, and are therefore not omitted. */
static int make_list(struct list *l)
{
	_cleanup_(denial_clusters_free) struct denial_clusters clusters;
	int r = denial_clusters_build(l->groups, &clusters);

	for (size_t i = 0; r == 0 && i < clusters.count; i++) {
		const struct denial_cluster *c = &clusters.items[i];

		for (size_t k = 0; r == 0 && k < c->place_count; k++) {
			const struct denial_place *p = &c->places[k];

			r = add_entry(l, p->first, p->objects > 1 ? p : NULL);
		}
	}
	return r;
}

json_t *why_build(json_t *const *records, size_t count)
{
	struct denial_groups groups = {0};
	struct list l = {.made = json_array(), .groups = &groups};
	json_t *policy = NULL, *made = NULL, *limits = json_null();
	int r = 0;

	l.places = calloc(count + 1, sizeof(*l.places));
	if (!l.made || !l.places)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++) {
		size_t group;
		int is_new;

		if (view_field(records[i], "cordon.end.limits"))
			limits = copy_or_null(records[i], "cordon.end.limits");
		if (!view_is_denial(records[i]))
			continue;
		if (!policy)
			policy = copy_or_null(records[i], "cordon.policy");
		r = denial_groups_add(&groups, records[i], &group, &is_new);
		if (r == 0)
			r = add_place(l.places, group, records[i]);
	}
	if (r == 0)
		r = make_list(&l);
	for (size_t i = 0; l.places && i < groups.count; i++)
		json_decref(l.places[i]);
	free(l.places);
	denial_groups_free(&groups);
	if (r == 0)
		made = json_pack("{s:o, s:O, s:I, s:o, s:s}", "policy",
				 policy ? policy : json_null(), "denials", l.made,
				 "denials_omitted", (json_int_t)l.omitted, "limits", limits, "note",
				 json_array_size(l.made) > 0 ? note_refused : note_nothing);
	else
		json_decref(policy);
	json_decref(l.made);
	return made;
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
	*ret_question = (struct why_question){
		right, object, json_is_true(view_field(entry, "object.case_insensitive"))};
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

/* Writes a text of several lines. */
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
	fprintf(out, "%llu times in %llu records", (unsigned long long)view_number(entry, "count"),
		(unsigned long long)(view_number(entry, "count") - merged));
	if (merged > 0)
		fprintf(out, "; the kernel merged %llu of them", (unsigned long long)merged);
	fputc('\n', out);
}

static void write_entry(FILE *out, const struct style *style, const json_t *entry)
{
	const char *what = view_text(entry, "what"), *error = view_text(entry, "error");
	const char *smallest = view_text(entry, "smallest_rule"),
		   *why_not = view_text(entry, "why_not");
	const json_t *rule = json_object_get(entry, "rule"), *others, *other;
	const char *action = view_text(entry, "action");
	bool denied = action && strcmp(action, "would-deny") != 0;
	size_t i;

	style_text_in(out, style, denied ? STYLE_BAD : STYLE_WARN, what ? what : "?", 0);
	if (error && denied) {
		fputs(" (", out);
		style_text(out, style, error);
		fputc(')', out);
	}
	fputc('\n', out);
	if (view_text(entry, "damaged")) {
		label(out, style, "DAMAGED");
		style_text_in(out, style, STYLE_BAD, view_text(entry, "damaged"), 0);
		fputc('\n', out);
	}
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
		fputs("nothing was denied\n", out);
	if (json_array_size(json_object_get(why, "limits")) > 0) {
		const json_t *limit;

		fputs("limit reached:", out);
		json_array_foreach(json_object_get(why, "limits"), i, limit)
			fprintf(out, "%s %s", i > 0 ? "," : "",
				json_is_string(limit) ? json_string_value(limit) : "?");
		fputc('\n', out);
	}
}
