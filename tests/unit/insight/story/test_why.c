// SPDX-License-Identifier: Apache-2.0
/* Denials explained: the rule, how often, what would allow it; harmless whatever a record holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/audit/fixture.h"
#include "insight/text/view.h"
#include "insight/story/why.h"

#define EVIL "/tmp/\x1b]0;owned\x07\r\n\xe2\x80\xae\xc2\x9b<script>"

static json_t *denial(struct fixture *f, const char *path, uint8_t reason, uint16_t rule,
		      uint32_t repeats)
{
	struct fixture_denial d = {
		.pid = 10,
		.parent = 1,
		.comm = "python3",
		.operation = CORDON_OP_OPEN,
		.rights = CORDON_RIGHT(CORDON_READ),
		.kind = CORDON_OBJECT_PATH,
		.object = path,
		.object_size = strlen(path),
		.reason = reason,
		.attempt = reason == CORDON_REASON_PERMISSIONS,
		.rule = rule,
		.repeats = repeats,
	};
	struct fixture_event e;
	json_t *record = NULL;

	fixture_denial(f, &d, &e);
	assert_int_equal(
		audit_record_event(&f->execution, e.data, e.size, FIXTURE_BOOT_OFFSET, &record), 0);
	json_object_set_new(record, "seq", json_integer((json_int_t)f->sequence));
	return record;
}

static char *text_of(const json_t *why)
{
	const struct style style = {.unicode = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	why_write(out, &style, why);
	fclose(out);
	return text;
}

static void test_explains(void **state)
{
	struct fixture f;
	struct why_question question;
	json_t *records[4], *why, *first;
	char *text;

	(void)state;
	fixture_init(&f);
	records[0] = denial(&f, "/home/u/work/.env", CORDON_REASON_RULE, 1, 0);
	records[1] = audit_record_start(&f.execution, FIXTURE_TIME);
	records[2] = denial(&f, "/home/u/work/.env", CORDON_REASON_RULE, 1, 5);
	records[3] = denial(&f, "/etc/hosts", CORDON_REASON_DEFAULT, 0, 0);
	why = why_build(records, 4);
	assert_non_null(why);
	assert_int_equal(json_array_size(json_object_get(why, "denials")), 2);
	first = json_array_get(json_object_get(why, "denials"), 0);
	/* Two records, one of which stands for six. */
	assert_int_equal(view_number(first, "count"), 7);
	assert_int_equal(view_number(first, "merged"), 5);
	assert_int_equal(json_array_size(json_object_get(first, "records")), 2);
	assert_string_equal(view_text(first, "rule.text"), "deny all **/.env");
	assert_string_equal(view_text(first, "rule.message"), "secrets stay where they are");
	assert_non_null(view_text(first, "why_not"));
	assert_true(why_question(first, &question));
	assert_string_equal(question.right, "read");
	assert_string_equal(question.object, "/home/u/work/.env");
	free(question.object);
	text = text_of(why);
	assert_non_null(strstr(text, "policies/python-sandbox.yaml:31"));
	assert_non_null(strstr(text, "7 times in 2 records; the kernel merged 5 of them"));
	assert_non_null(strstr(text, "{allow: [read], paths: [\"/etc/hosts\"]}"));
	free(text);
	json_decref(why);
	for (size_t i = 0; i < 4; i++)
		json_decref(records[i]);
}

/* The gravest first, whoever refused it; and what to do where a socket hid where it was to lead. */
static void test_attempt_and_socket(void **state)
{
	struct fixture f;
	struct fixture_denial socket = {
		.comm = "curl",
		.operation = CORDON_OP_SOCKET,
		.rights = CORDON_RIGHT(CORDON_SOCKET),
		.kind = CORDON_OBJECT_SOCKET,
		.object = "\x02\x01\0\x06",
		.object_size = 4,
	};
	struct fixture_event e;
	json_t *records[2], *why, *list;
	char *text;

	(void)state;
	fixture_init(&f);
	fixture_denial(&f, &socket, &e);
	assert_int_equal(audit_record_event(&f.execution, e.data, e.size, FIXTURE_BOOT_OFFSET,
					    &records[0]),
			 0);
	records[1] = denial(&f, "/root/.env", CORDON_REASON_PERMISSIONS, 1, 0);
	why = why_build(records, 2);
	list = json_object_get(why, "denials");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(view_text(json_array_get(list, 0), "object.text"), "/root/.env");
	text = text_of(why);
	assert_non_null(strstr(text, "the host's own permissions deny it"));
	assert_non_null(strstr(text, "`network: record` logs the destination"));
	free(text);
	json_decref(why);
	json_decref(records[0]);
	json_decref(records[1]);
}

static void test_nothing(void **state)
{
	json_t *why = why_build(NULL, 0);
	char *text = text_of(why);

	(void)state;
	assert_string_equal(text, "nothing was denied\n");
	assert_string_equal(view_text(why, "note"), "Nothing was denied.");
	free(text);
	json_decref(why);
}

static void test_is_harmless(void **state)
{
	struct fixture f;
	json_t *record, *why;
	char *text;

	(void)state;
	fixture_init(&f);
	record = denial(&f, EVIL, CORDON_REASON_DEFAULT, 0, 0);
	why = why_build(&record, 1);
	text = text_of(why);
	for (const char *c = text; *c; c++)
		assert_false((unsigned char)*c < 0x20 && *c != '\n');
	assert_null(strchr(text, 0x7f));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_non_null(strstr(text, "\\x1b"));
	free(text);
	json_decref(why);
	json_decref(record);
}

/* Of thousands in one directory one entry is made, and what a rule refused comes before it. */
static void test_much(void **state)
{
	enum { NOISE = 3003 };
	json_t *records[NOISE + 2], *why, *list;
	struct fixture f;
	char path[64], *text;

	(void)state;
	fixture_init(&f);
	for (int i = 0; i < NOISE; i++) {
		snprintf(path, sizeof(path), "/usr/share/doc/%d", i);
		records[i] = denial(&f, path, CORDON_REASON_DEFAULT, 0, 1);
	}
	records[NOISE] = denial(&f, "/etc/shadow", CORDON_REASON_RULE, 1, 0);
	records[NOISE + 1] = denial(&f, "/proc/1/environ", CORDON_REASON_FOREIGN, 0, 0);
	why = why_build(records, NOISE + 2);
	list = json_object_get(why, "denials");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(view_text(json_array_get(list, 0), "what"),
			    "read of /etc/shadow was denied");
	assert_string_equal(view_text(json_array_get(list, 1), "what"),
			    "read of /proc/1/environ was denied");
	assert_string_equal(view_text(json_array_get(list, 2), "what"),
			    "read of 3003 files in /usr/share/doc/ was denied");
	/* One rule for all of them, not one for the first. */
	assert_string_equal(view_text(json_array_get(list, 2), "smallest_rule"),
			    "files:\n  - {allow: [read], paths: [\"/usr/share/doc/*\"]}");
	assert_int_equal(view_number(json_array_get(list, 2), "objects"), NOISE);
	assert_int_equal(view_number(json_array_get(list, 2), "count"), 2 * NOISE);
	assert_int_equal(view_number(json_array_get(list, 2), "merged"), NOISE);
	text = text_of(why);
	assert_non_null(strstr(text, "6006 times in 3003 records"));
	free(text);
	json_decref(why);
	for (int i = 0; i < NOISE + 2; i++)
		json_decref(records[i]);
}

/*
 * Names that are refused in many directories: one rule for what they have in common, unless that is
 * half of the host.
 */
static void test_rule_below(void **state)
{
	static const struct {
		const char *directory, *name, *rule;
	} cases[] = {
		{"/opt/venv/lib/p", "/q/x",
		 "files:\n  - {allow: [read], paths: [\"/opt/venv/lib/**\"]}"},
		{"/home/u/work/src/d", "/x",
		 "files:\n  - {allow: [read], paths: [\"${workdir}/src/**\"]}"},
		{"/opt/v", "/x", "files:\n  - {allow: [read], paths: [\"/opt/v0/x0\"]}"},
	};
	enum { COUNT = 200 };
	json_t *records[COUNT], *why;
	struct fixture f;
	char path[64];

	(void)state;
	fixture_init(&f);
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		for (int i = 0; i < COUNT; i++) {
			snprintf(path, sizeof(path), "%s%d%s%d", cases[c].directory, i,
				 cases[c].name, i);
			records[i] = denial(&f, path, CORDON_REASON_DEFAULT, 0, 0);
		}
		why = why_build(records, COUNT);
		assert_string_equal(view_text(json_array_get(json_object_get(why, "denials"), 0),
					      "smallest_rule"),
				    cases[c].rule);
		json_decref(why);
		for (int i = 0; i < COUNT; i++)
			json_decref(records[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempt_and_socket),
		cmocka_unit_test(test_explains),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_is_harmless),
		cmocka_unit_test(test_much),
		cmocka_unit_test(test_rule_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
