/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the report on denied accesses for the agent that started an execution. */
#include "insight/export/report.h"

#include "audit/record/fields.h"
#include "audit/record/names.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "insight/story/clusters.h"
#include "insight/story/denials.h"
#include "insight/text/view.h"

static const char note_refused[] =
	"cordon confines this execution: the kernel denied what is listed, whatever the code does "
	"to try again. how_to_ask is the smallest change to the policy that would allow it: hand it "
	"to whoever owns the policy, with the reason why it is needed. It takes effect for the next "
	"execution.";
static const char note_observed[] =
	"The policy observes only: what is listed went ahead, and would be denied if the policy "
	"said `mode: enforce`.";
static const char note_attempts[] =
	"The host's own permissions denied what is listed as attempts. A rule of the policy marks "
	"it: it would have been denied in any case.";
static const char note_nothing[] = "Nothing was denied.";

static json_t *copy_or_null(const json_t *record, const char *name)
{
	const json_t *value = view_field(record, name);

	return value ? json_deep_copy(value) : json_null();
}

static json_t *rule_or_reason(const json_t *record)
{
	if (!view_text(record, "cordon.rule.text"))
		return json_string(denial_reason_phrase(record));
	return json_pack("{s:o, s:o, s:o}", "file", copy_or_null(record, "cordon.rule.file"),
			 "line", copy_or_null(record, "cordon.rule.line"), "text",
			 copy_or_null(record, "cordon.rule.text"));
}

/* The access as a record has it, for recording_add_report(). */
static json_t *access_of(const json_t *record)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "action",
			 copy_or_null(record, "event.action"), "reason",
			 copy_or_null(record, "cordon.reason"), "object",
			 copy_or_null(record, "cordon.object"), "destination",
			 copy_or_null(record, "destination"), "network",
			 copy_or_null(record, "network"), "program",
			 copy_or_null(record, "process.name"));
}

static json_t *entry(const struct denial_group *group)
{
	_cleanup_(freep) char *what = denial_phrase(group->first);
	const json_t *r = group->first;

	if (!what)
		return NULL;
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "what", what,
			 "operation", copy_or_null(r, "cordon.operation"), "object",
			 copy_or_null(r, "cordon.object.text"), "rights",
			 copy_or_null(r, "cordon.rights"), "rule", rule_or_reason(r), "message",
			 copy_or_null(r, "cordon.rule.message"), "how_to_ask",
			 copy_or_null(r, "cordon.suggestion.rule"), "why_not",
			 copy_or_null(r, "cordon.suggestion.why"), "count",
			 (json_int_t)group->count, "access", access_of(r));
}

static void add_directories(struct fields *f, const struct audit_execution *execution)
{
	json_t *object = fields_object(f, f->record, "directories");
	char *const *directories = execution->directories;

	for (; directories && directories[0] && directories[1]; directories += 2)
		fields_string(f, object, directories[0], directories[1]);
}

static void add_outcome(struct fields *f, const struct audit_end *end)
{
	json_t *outcome = fields_object(f, f->record, "outcome");

	fields_set(f, outcome, "cause", json_string(name_of_end_cause(end->cause)));
	if (end->have_status) {
		fields_status(f, outcome, end->status);
	} else {
		fields_set(f, outcome, "exit_code", json_null());
		fields_set(f, outcome, "signal", json_null());
	}
	fields_number(f, outcome, "duration_ms", end->duration_nsec / NSEC_PER_MSEC);
	fields_number(f, outcome, "killed_tasks", end->killed_tasks);
	fields_limits(f, outcome, end->limits);
}

/*
 * If not all records can be listed, denials by a rule are added in the first pass. Otherwise all
 * are added in order in the first pass.
 */
static bool is_of_pass(const json_t *record, bool many, int pass)
{
	bool first = !many || denial_weight(record) >= DENIAL_WEIGHT_RULE;

	return first == (pass == 0);
}

static void add_groups(struct fields *f, struct denial_groups *groups, json_t *const *records,
		       size_t count, bool attempts, uint64_t *omitted)
{
	for (size_t i = 0; i < 2 * count; i++) {
		const json_t *record = records[i % count];
		size_t index;
		int is_new;

		if (!view_is_denial(record) || view_is(record, "attempt") != attempts ||
		    !is_of_pass(record, count > REPORT_DENIALS_MAX, i >= count))
			continue;
		/* Do not compare with the listed groups, because that takes most of the time. */
		if (groups->count == REPORT_DENIALS_MAX)
			*omitted += 1 + view_number(record, "cordon.repeats");
		else if (denial_groups_add(groups, record, &index, &is_new) < 0)
			f->failed = true;
	}
}

/* Adds the denials or the DAC denials, and the number of omitted ones. */
static void add_refused(struct fields *f, json_t *const *records, size_t count, bool attempts)
{
	struct denial_groups groups = {0};
	json_t *list = json_array();
	uint64_t omitted = 0;

	add_groups(f, &groups, records, count, attempts, &omitted);
	for (size_t i = 0; i < groups.count; i++)
		if (json_array_append_new(list, entry(&groups.items[i])) < 0)
			f->failed = true;
	denial_groups_free(&groups);
	fields_set(f, f->record, attempts ? "attempts" : "denials", list);
	fields_number(f, f->record, attempts ? "attempts_omitted" : "denials_omitted", omitted);
}

json_t *report_build(const struct audit_execution *execution, const struct audit_end *end,
		     json_t *const *denials, size_t count)
{
	struct fields f = {.record = json_object()};
	const char *note = note_nothing;
	char id[UUID_TEXT_SIZE];
	json_t *policy;

	uuid_format(execution->id, id);
	fields_set(&f, f.record, "execution", json_string(id));
	policy = fields_object(&f, f.record, "policy");
	fields_string(&f, policy, "name", execution->policy->name);
	fields_string(&f, policy, "file", execution->policy->file);
	fields_digest(&f, policy, "digest", execution->policy->digest);
	add_directories(&f, execution);
	add_outcome(&f, end);
	add_refused(&f, denials, count, false);
	fields_number(&f, f.record, "denials_total", end->denials + end->would_denials);
	add_refused(&f, denials, count, true);
	fields_number(&f, f.record, "attempts_total", end->attempts);
	if (end->denials > 0)
		note = note_refused;
	else if (end->would_denials > 0)
		note = note_observed;
	else if (end->attempts > 0)
		note = note_attempts;
	fields_set(&f, f.record, "note", json_string(note));
	if (f.failed) {
		json_decref(f.record);
		return NULL;
	}
	return f.record;
}
