/* SPDX-License-Identifier: Apache-2.0 */
/* The report for the agent that started an execution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/audit/fixture.h"
#include "insight/export/report.h"
#include "insight/recording/recording.h"
#include "insight/text/view.h"

static json_t *denial_of(struct fixture *f, const char *path, uint8_t reason, uint8_t would)
{
	struct fixture_denial denial = {
		.pid = 10,
		.comm = "python3",
		.operation = CORDON_OP_OPEN,
		.rights = 1,
		.kind = CORDON_OBJECT_PATH,
		.object = path,
		.object_size = strlen(path),
		.reason = reason,
		.rule = 1,
		.would = would,
		.repeats = 1,
	};
	struct fixture_event e;
	json_t *record = NULL;

	fixture_denial(f, &denial, &e);
	assert_int_equal(audit_record_event(&f->execution, e.data, e.size, 0, &record), 0);
	return record;
}

static void assert_text(const json_t *object, const char *name, const char *expected)
{
	const char *text = view_text(object, name);

	if (!text)
		fail_msg("%s is missing", name);
	assert_string_equal(text, expected);
}

static void test_denials(void **state)
{
	struct audit_end end = {
		.have_status = true, .status = 1 << 8, .duration_nsec = 2500000, .denials = 6};
	_cleanup_(json_decrefp) json_t *report = NULL;
	json_t *records[4];
	const json_t *list, *entry;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	records[0] = denial_of(&f, "/root/.ssh/id_rsa", CORDON_REASON_DEFAULT, 0);
	records[1] = denial_of(&f, "/home/u/work/.env", CORDON_REASON_RULE, 0);
	records[2] = denial_of(&f, "/root/.ssh/id_rsa", CORDON_REASON_DEFAULT, 0);
	records[3] = audit_record_start(&f.execution, FIXTURE_TIME);
	report = report_build(&f.execution, &end, records, 4);
	assert_non_null(report);
	assert_text(report, "execution", "019aa3c4-11d2-7abc-8def-010203040506");
	assert_text(report, "policy.name", "python-sandbox");
	assert_text(report, "outcome.cause", "exited");
	assert_int_equal(view_number(report, "outcome.exit_code"), 1);
	assert_int_equal(view_number(report, "outcome.duration_ms"), 2);
	assert_int_equal(view_number(report, "denials_total"), 6);
	list = view_field(report, "denials");
	assert_int_equal(json_array_size(list), 2);
	entry = json_array_get(list, 0);
	assert_text(entry, "what", "read of /root/.ssh/id_rsa was denied");
	assert_text(entry, "operation", "open");
	assert_text(entry, "object", "/root/.ssh/id_rsa");
	assert_text(entry, "rule", "no rule allows it");
	assert_text(entry, "how_to_ask",
		    "files:\n  - {allow: [read], paths: [\"/root/.ssh/id_rsa\"]}");
	assert_int_equal(view_number(entry, "count"), 4);
	entry = json_array_get(list, 1);
	assert_text(entry, "rule.file", "policies/python-sandbox.yaml");
	assert_int_equal(view_number(entry, "rule.line"), 31);
	assert_text(entry, "message", "secrets stay where they are");
	assert_true(json_is_null(view_field(entry, "how_to_ask")));
	assert_non_null(view_text(entry, "why_not"));
	assert_non_null(strstr(view_text(report, "note"), "how_to_ask"));
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		json_decref(records[i]);
}

static void test_workdir_is_named(void **state)
{
	struct audit_end end = {.would_denials = 1};
	_cleanup_(json_decrefp) json_t *report = NULL;
	const json_t *entry;
	struct fixture f;
	json_t *record;

	(void)state;
	fixture_init(&f);
	record = denial_of(&f, "/home/u/work/a[1].csv", CORDON_REASON_DEFAULT, 1);
	report = report_build(&f.execution, &end, &record, 1);
	entry = json_array_get(view_field(report, "denials"), 0);
	assert_text(entry, "what", "read of /home/u/work/a[1].csv would have been denied");
	assert_text(entry, "how_to_ask",
		    "files:\n  - {allow: [read], paths: [\"${workdir}/a\\\\[1\\\\].csv\"]}");
	assert_non_null(strstr(view_text(report, "note"), "observes only"));
	json_decref(record);
}

/* A proposal is made from the report as from the records. */
static void test_accesses_are_kept(void **state)
{
	struct audit_end end = {.denials = 2};
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	_cleanup_(json_decrefp) json_t *report = NULL;
	const struct recorded_access *accesses;
	const struct recorded_run *runs;
	json_t *records[2];
	size_t count, run_count;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	records[0] = denial_of(&f, "/etc/x", CORDON_REASON_DEFAULT, 0);
	records[1] = denial_of(&f, "/etc/y\377", CORDON_REASON_RULE, 0);
	report = report_build(&f.execution, &end, records, 2);
	assert_int_equal(recording_add_report(recording, report), 0);
	runs = recording_runs(recording, &run_count);
	accesses = recording_accesses(recording, &count);
	assert_int_equal(run_count, 1);
	assert_string_equal(runs[0].policy, f.execution.policy->name);
	assert_int_equal(count, 2);
	assert_string_equal(accesses[0].bytes, "/etc/x");
	assert_int_equal(accesses[0].rights, CORDON_RIGHT(CORDON_READ));
	assert_int_equal(accesses[0].reason, CORDON_REASON_DEFAULT);
	assert_int_equal(accesses[0].count, 2);
	assert_int_equal(accesses[1].reason, CORDON_REASON_RULE);
	assert_memory_equal(accesses[1].bytes, "/etc/y\377", 8);
	json_decref(records[0]);
	json_decref(records[1]);
	json_object_del(report, "denials");
	assert_int_equal(recording_add_report(recording, report), -EINVAL);
}

static void test_nothing(void **state)
{
	struct audit_end end = {.have_status = true};
	_cleanup_(json_decrefp) json_t *report = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f);
	report = report_build(&f.execution, &end, NULL, 0);
	assert_int_equal(json_array_size(view_field(report, "denials")), 0);
	assert_text(report, "note", "Nothing was denied.");
}

/* What permissions refused stands apart: no rule would allow it. */
static void test_attempts(void **state)
{
	struct audit_end end = {.attempts = 2};
	struct fixture_denial attempt = {
		.pid = 10,
		.comm = "python3",
		.operation = CORDON_OP_LOOKUP,
		.kind = CORDON_OBJECT_PATH,
		.object = "/root/.ssh/id_rsa",
		.object_size = 17,
		.reason = CORDON_REASON_PERMISSIONS,
		.attempt = true,
		.rule = 1,
		.repeats = 1,
	};
	_cleanup_(json_decrefp) json_t *report = NULL;
	const json_t *entry;
	struct fixture_event event;
	json_t *records[2];
	struct fixture f;

	(void)state;
	fixture_init(&f);
	fixture_denial(&f, &attempt, &event);
	assert_int_equal(audit_record_event(&f.execution, event.data, event.size, 0, &records[0]),
			 0);
	records[1] = denial_of(&f, "/etc/group", CORDON_REASON_DEFAULT, 0);
	report = report_build(&f.execution, &end, records, 1);
	assert_int_equal(json_array_size(view_field(report, "denials")), 0);
	assert_int_equal(view_number(report, "attempts_total"), 2);
	assert_non_null(strstr(view_text(report, "note"), "permissions"));
	entry = json_array_get(view_field(report, "attempts"), 0);
	assert_text(entry, "object", "/root/.ssh/id_rsa");
	assert_int_equal(view_number(entry, "rule.line"), 31);
	assert_int_equal(view_number(entry, "count"), 2);
	assert_true(json_is_null(view_field(entry, "how_to_ask")));
	json_decref(report);
	end.denials = 2;
	report = report_build(&f.execution, &end, records, 2);
	assert_int_equal(json_array_size(view_field(report, "denials")), 1);
	assert_int_equal(json_array_size(view_field(report, "attempts")), 1);
	assert_non_null(strstr(view_text(report, "note"), "how_to_ask"));
	json_decref(records[0]);
	json_decref(records[1]);
}

static void test_many(void **state)
{
	struct audit_end end = {.denials = 2 * (REPORT_DENIALS_MAX + 5)};
	static json_t *records[REPORT_DENIALS_MAX + 5];
	_cleanup_(json_decrefp) json_t *report = NULL;
	struct fixture f;
	char path[32];

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		snprintf(path, sizeof(path), "/x/%zu", i);
		records[i] = denial_of(&f, path,
				       i + 1 < ARRAY_SIZE(records) ? CORDON_REASON_DEFAULT
								   : CORDON_REASON_RULE,
				       0);
	}
	report = report_build(&f.execution, &end, records, ARRAY_SIZE(records));
	assert_int_equal(json_array_size(view_field(report, "denials")), REPORT_DENIALS_MAX);
	assert_int_equal(view_number(report, "denials_omitted"), 10);
	/* The one by a rule is not among those left out. */
	assert_string_equal(view_text(json_array_get(view_field(report, "denials"), 0), "object"),
			    path);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		json_decref(records[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_denials),		  cmocka_unit_test(test_workdir_is_named),
		cmocka_unit_test(test_accesses_are_kept), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_attempts),	  cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
