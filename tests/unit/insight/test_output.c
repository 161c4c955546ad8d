/* SPDX-License-Identifier: Apache-2.0 */
/* What people get to see: right in what it says, and harmless whatever a record holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "../audit/fixture.h"
#include "audit/read/damage.h"
#include "base/clock.h"
#include "insight/story/line.h"
#include "insight/story/story.h"
#include "insight/text/style.h"
#include "insight/story/tree.h"
#include "insight/text/view.h"

#define BYTES(s)    s, sizeof(s) - 1
#define RECORDS_MAX 8192

/* Escape sequences, a carriage return, bidi controls, bytes that are no text. */
#define EVIL_TEXT                                                                                  \
	"\x1b]0;owned\x07\x1b[2J\r\n\xe2\x80\xae\xe2\x80\x8b\xc2\x9b"                              \
	"31m"
#define EVIL EVIL_TEXT "\xff"

struct run {
	struct fixture f;
	json_t *records[RECORDS_MAX];
	size_t count;
};

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	fixture_init(&run->f);
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	for (size_t i = 0; i < run->count; i++)
		json_decref(run->records[i]);
	free(run);
	return 0;
}

static void add(struct run *run, json_t *record)
{
	assert_non_null(record);
	assert_true(run->count < RECORDS_MAX);
	run->records[run->count++] = record;
}

static void add_event(struct run *run, const struct fixture_event *e)
{
	json_t *record = NULL;

	assert_int_equal(audit_record_event(&run->f.execution, e->data, e->size,
					    FIXTURE_BOOT_OFFSET, &record),
			 0);
	add(run, record);
	run->f.clock += 10000000;
}

static void add_exec(struct run *run, uint32_t pid, uint32_t parent, const char *name)
{
	struct fixture_event e;

	fixture_exec(&run->f, pid, parent, name, name, name, strlen(name) + 1, 0, &e);
	add_event(run, &e);
}

static void add_denial_of(struct run *run, uint32_t pid, const char *path, uint32_t repeats,
			  uint8_t reason)
{
	struct fixture_denial denial = {
		.pid = pid,
		.parent = 1,
		.comm = "python3",
		.operation = CORDON_OP_OPEN,
		.rights = 1,
		.kind = CORDON_OBJECT_PATH,
		.object = path,
		.object_size = strlen(path),
		.repeats = repeats,
		.reason = reason,
		.rule = 1,
	};
	struct fixture_event e;

	fixture_denial(&run->f, &denial, &e);
	add_event(run, &e);
}

static void add_denial(struct run *run, uint32_t pid, const char *path, uint32_t repeats)
{
	add_denial_of(run, pid, path, repeats, CORDON_REASON_DEFAULT);
}

static void add_rule_denial(struct run *run, uint32_t pid, const char *path)
{
	add_denial_of(run, pid, path, 0, CORDON_REASON_RULE);
}

static char *lines(const struct run *run, struct style style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < run->count; i++)
		line_write(out, &style, run->records[i]);
	fclose(out);
	return text;
}

static char *story(const struct run *run, struct style style)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(story_write(out, &style, run->records, run->count), 0);
	fclose(out);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void test_story_tells(void **state)
{
	struct run *run = *state;
	struct audit_end end = {.have_status = true,
				.status = 1 << 8,
				.duration_nsec = 1500000000,
				.killed_tasks = 1,
				.denials = 4};
	_cleanup_(freep) char *text = NULL;
	struct fixture_event e;

	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	add_exec(run, 10, 1, "/usr/bin/python3");
	add_denial(run, 10, "/root/.ssh/id_rsa", 0);
	add_denial(run, 10, "/root/.ssh/id_rsa", 2);
	add_exec(run, 11, 10, "/usr/bin/sleep");
	fixture_exit(&run->f, 10, 1, "python3", 1 << 8, &e);
	add_event(run, &e);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME + 1500000000));
	text = story(run, (struct style){0});
	assert_has(text, "019aa3c4-11d2-7abc-8def-010203040506");
	assert_has(text, "exit 1 after 1.50 s");
	assert_has(text, "python-sandbox (enforce)");
	assert_has(text, "/home/u/work/attack.py");
	assert_has(text, "agent coder");
	assert_has(text, "session s-17");
	assert_has(text, "x read of /root/.ssh/id_rsa was denied (EACCES)  x4\n");
	assert_has(text, "files: - {allow: [read], paths: [\"/root/.ssh/id_rsa\"]}\n");
	assert_has(text, "`- /usr/bin/sleep[11]");
	assert_has(text, "Killed at the end  1 task: /usr/bin/sleep[11]");
	/* One entry for the two denials. */
	assert_null(strstr(strstr(text, "id_rsa was denied") + 1, "id_rsa was denied"));
}

/* What permissions refused is told like a denial, though the kernel's count leaves it out. */
static void test_story_attempts(void **state)
{
	struct run *run = *state;
	struct audit_end end = {.have_status = true, .duration_nsec = 1500000000};
	struct fixture_denial attempt = {
		.pid = 10,
		.comm = "cat",
		.operation = CORDON_OP_LOOKUP,
		.kind = CORDON_OBJECT_PATH,
		.object = "/root/.env",
		.object_size = 10,
		.repeats = 2,
		.reason = CORDON_REASON_PERMISSIONS,
		.attempt = true,
		.rule = 1,
	};
	_cleanup_(freep) char *text = NULL, *line = NULL;
	struct fixture_event e;

	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	add_exec(run, 10, 1, "/usr/bin/cat");
	fixture_denial(&run->f, &attempt, &e);
	add_event(run, &e);
	assert_true(view_is_denial(run->records[2]) && view_is_refused(run->records[2]));
	line = lines(run, (struct style){0});
	assert_has(line, "ATTEMPT ");
	assert_has(line, "looking for /root/.env was denied  policies/python-sandbox.yaml:31");
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME + 1500000000));
	text = story(run, (struct style){0});
	assert_has(text, "exit 0 after 1.50 s, 3 attempts denied by the host's permissions\n");
	assert_has(text, "x looking for /root/.env was denied (EACCES)  x3\n");
	assert_has(text, "policies/python-sandbox.yaml:31  deny all **/.env");
	assert_null(strstr(text, "nothing denied"));
	free(line);
	end.attempts = 3;
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME + 1500000000));
	line = lines(run, (struct style){0});
	assert_has(line, "exit 0 after 1.50 s, 0 refused, 3 by the host's permissions");
}

static void test_story_without_start_or_end(void **state)
{
	struct run *run = *state;
	_cleanup_(freep) char *text = NULL, *nothing = story(run, (struct style){0});

	add_denial(run, 10, "/x", 0);
	text = story(run, (struct style){0});
	assert_has(text, "still running, or its end was not logged");
	assert_has(text, "the record of its start is not in this log");
	assert_has(text, "read of /x was denied");
	assert_has(nothing, "its end was not logged");
}

/* Its daemon had died: with the status that its owner told, and without. */
static void test_story_recovered(void **state)
{
	struct run *run = *state;
	struct audit_end end = {.cause = AUDIT_END_RECOVERED,
				.have_status = true,
				.status = 17 << 8,
				.duration_nsec = 1500000000};
	_cleanup_(freep) char *told = NULL, *untold = NULL;

	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	told = story(run, (struct style){0});
	assert_has(told, "exit 17 after 1.50 s, while no daemon ran");
	end.have_status = false;
	json_decref(run->records[--run->count]);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	untold = story(run, (struct style){0});
	assert_has(untold, "killed: found orphaned when cordon started after 1.50 s");
}

/* Deep chains, many processes and many denials stay within bounds. */
static void test_story_is_bounded(void **state)
{
	struct run *run = *state;
	_cleanup_(freep) char *text = NULL;
	char path[32];

	for (uint32_t pid = 2; pid < 3000; pid++)
		add_exec(run, pid, pid - 1, "x");
	for (int i = 0; i < 500; i++) {
		snprintf(path, sizeof(path), "/secret/%d", i);
		add_denial(run, 2, path, 0);
	}
	text = story(run, (struct style){.unicode = true});
	assert_has(text, "more; `cordon show --json`");
	assert_true(count_lines(text) < 4 * (STORY_PROCESSES_MAX + STORY_ITEMS_MAX));
}

/*
 * What a rule with a severity refused is told first, and in its place, however much was refused
 * around it.
 */
static void test_story_hides_nothing_grave(void **state)
{
	struct run *run = *state;
	_cleanup_(freep) char *text = NULL;
	char path[64];

	for (uint32_t pid = 2; pid < 1000; pid++)
		add_exec(run, pid, 1, "noise");
	add_exec(run, 1000, 1, "grave");
	for (int i = 0; i < 3003; i++) {
		snprintf(path, sizeof(path), "/usr/share/doc/%d", i);
		add_denial(run, 1000, path, 0);
	}
	add_rule_denial(run, 1000, "/etc/shadow");
	text = story(run, (struct style){.unicode = true});
	assert_has(text, "  Refused");
	assert_has(text,
		   "         1  read of /etc/shadow was denied  policies/python-sandbox.yaml:31  "
		   "severity high\n");
	assert_has(
		text,
		"      3003  read of 3003 files in /usr/share/doc/ was denied  no rule allows it");
	assert_true(strstr(text, "read of /etc/shadow was") < strstr(text, "read of 3003 files"));
	assert_has(text, "grave[1000]");
	assert_has(text, "✗ read of /etc/shadow was denied");
	assert_true(count_lines(text) < 4 * (STORY_PROCESSES_MAX + STORY_ITEMS_MAX));
}

/* A day is said once, with the zone of the times below it. */
static void test_days(void **state)
{
	struct run *run = *state;
	const struct style style = {0};
	struct line_day day = {};
	char time[LINE_TIME_SIZE], *text = NULL;
	size_t size;
	FILE *out;

	setenv("TZ", "CET-1", 1);
	tzset();
	add_denial(run, 2, "/a", 0);
	run->f.clock += 23 * 3600ull * NSEC_PER_SEC;
	add_denial(run, 2, "/b", 0);
	out = open_memstream(&text, &size);
	for (size_t i = 0; i < run->count; i++)
		line_day(out, &style, &day, run->records[i]);
	fclose(out);
	assert_string_equal(text, "2025-11-21 CET\n2025-11-22 CET\n");
	free(text);
	line_time(FIXTURE_TIME, true, time);
	assert_string_equal(time, "2025-11-21 01:00:00.000 CET");
	line_time(FIXTURE_TIME, false, time);
	assert_string_equal(time, "01:00:00.000");
	setenv("TZ", "UTC0", 1);
	tzset();
}

static void test_damaged_lines(void **state)
{
	struct run *run = *state;
	_cleanup_(freep) char *text = NULL;

	add_rule_denial(run, 2, "/etc/shadow");
	assert_int_equal(damage_mark(run->records[run->count - 1], "it was changed"), 0);
	text = lines(run, (struct style){0});
	assert_has(text, "DAMAGED  read of /etc/shadow was denied");
}

static void test_lines(void **state)
{
	struct run *run = *state;
	struct audit_end end = {.have_status = true, .status = 0, .duration_nsec = 1000000};
	json_t *beat = json_pack("{s:i,s:{s:i}}", "executions", 1, "totals", "denials", 4);
	_cleanup_(freep) char *text = NULL;
	struct fixture_event e;

	setenv("TZ", "UTC", 1);
	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	add_exec(run, 10, 1, "/usr/bin/python3");
	add_denial(run, 10, "/etc/shadow", 4);
	fixture_exit(&run->f, 10, 1, "python3", 9, &e);
	add_event(run, &e);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	add(run, audit_record_gap(&run->f.execution, 1, 5, FIXTURE_TIME));
	add(run, audit_record_refused("p", "no such policy", 0, FIXTURE_TIME));
	add(run, audit_record_agent("start", NULL, FIXTURE_TIME));
	add(run, audit_record_agent("heartbeat", beat, FIXTURE_TIME));
	json_decref(beat);
	text = lines(run, (struct style){0});
	assert_int_equal(count_lines(text), run->count);
	assert_has(text, "00:00:00.000  010203040506  start ");
	assert_has(text, "DENIED      python3[10]           read of /etc/shadow was denied  "
			 "no rule allows it  and 4 more like it\n");
	assert_has(text, "killed by SIGKILL\n");
	assert_has(text, "exit 0 after 1 ms, 0 refused\n");
	assert_has(text, "3 events missing\n");
	assert_has(text, "no such policy\n");
	assert_has(text, "agent-start");
	assert_has(text, "heartbeat ");
	assert_has(text, "1 execution live, 4 denied accesses since the start\n");
}

/* Puts EVIL_TEXT in place of every string below `value`. */
static void poison(json_t *value)
{
	const char *key;
	json_t *member;
	size_t index;

	json_object_foreach(value, key, member) {
		if (strcmp(key, "event") == 0 || strcmp(key, "@timestamp") == 0)
			continue;
		if (json_is_string(member))
			json_string_setn_nocheck(member, BYTES(EVIL_TEXT));
		else
			poison(member);
	}
	json_array_foreach(value, index, member) {
		if (json_is_string(member))
			json_string_setn_nocheck(member, BYTES(EVIL_TEXT));
		else
			poison(member);
	}
}

/* No byte that a terminal acts upon but newlines, and colours where they were asked for. */
static void assert_harmless(const char *text, bool unicode)
{
	static const char *const forbidden[] = {"\xe2\x80\xae", "\xe2\x80\x8b", "\xc2\x9b"};

	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		assert_true(*c == '\n' || *c >= 0x20);
		assert_int_not_equal(*c, 0x7f);
		if (!unicode)
			assert_true(*c < 0x80);
	}
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		assert_null(strstr(text, forbidden[i]));
	assert_null(strchr(text, '\xff'));
}

static void test_nothing_injects(void **state)
{
	static const struct style styles[] = {{.unicode = true}, {.unicode = false}};
	struct run *run = *state;
	struct audit_end end = {.have_status = true, .status = 9, .killed_tasks = 1, .denials = 1};
	char *missing[] = {(char *)"x", NULL};
	struct fixture_event e;
	size_t clean_lines;

	run->f.policy.arguments = POLICY_ARGUMENTS_FULL;
	run->f.execution.limits_missing = missing;
	add(run, audit_record_start(&run->f.execution, FIXTURE_TIME));
	add_exec(run, 10, 1, EVIL);
	fixture_exec(&run->f, 10, 1, "sh", "/bin/sh", BYTES("sh\0-c\0" EVIL "\0" EVIL "\0"), 0, &e);
	add_event(run, &e);
	add_denial(run, 10, EVIL, 4);
	fixture_exit(&run->f, 10, 1, EVIL, 9, &e);
	add_event(run, &e);
	add(run, audit_record_end(&run->f.execution, &end, FIXTURE_TIME));
	add(run, audit_record_refused(EVIL, EVIL, 0, FIXTURE_TIME));
	add(run, audit_record_gap(&run->f.execution, 1, 5, FIXTURE_TIME));
	clean_lines = run->count;
	for (size_t i = 0; i < run->count; i++) {
		json_t *copy = json_deep_copy(run->records[i]);

		poison(copy);
		json_decref(run->records[i]);
		run->records[i] = copy;
	}
	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		_cleanup_(freep) char *as_lines = lines(run, styles[i]);
		_cleanup_(freep) char *as_story = story(run, styles[i]);

		assert_harmless(as_lines, styles[i].unicode);
		assert_harmless(as_story, styles[i].unicode);
		assert_int_equal(count_lines(as_lines), clean_lines);
		assert_has(as_lines, "\\x1b");
	}
}

/* Members that are missing, or of another type than the schema says. */
static void test_strange_records(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"event\":7}",
		"{\"event\":{\"action\":\"denial\"}}",
		"{\"event\":{\"action\":\"denial\"},\"process\":{\"entity_id\":\"1\"},"
		"\"cordon\":{\"rights\":[1,null],\"repeats\":-5}}",
		"{\"event\":{\"action\":\"process-exec\"},\"process\":{\"entity_id\":\"2\","
		"\"parent\":{\"entity_id\":\"2\"},\"args\":[null,7],\"args_count\":\"x\"}}",
		"{\"event\":{\"action\":\"execution-start\"},\"@timestamp\":\"x\"}",
		"{\"event\":{\"action\":\"execution-end\"},\"cordon\":{\"end\":[]}}",
		"{\"event\":{\"action\":\"gap\"},\"cordon\":null}",
	};
	struct run *run = *state;
	_cleanup_(freep) char *as_lines = NULL, *as_story = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		add(run, json_loads(texts[i], 0, NULL));
	as_lines = lines(run, (struct style){.color = true, .unicode = true});
	as_story = story(run, (struct style){.color = true, .unicode = true});
	assert_int_equal(count_lines(as_lines), run->count);
	assert_true(as_story[0]);
}

static void test_colors_only_if_asked(void **state)
{
	struct run *run = *state;
	_cleanup_(freep) char *plain = NULL, *colored = NULL;

	add_denial(run, 10, "/x", 0);
	plain = lines(run, (struct style){.unicode = true});
	colored = lines(run, (struct style){.unicode = true, .color = true});
	assert_null(strchr(plain, '\x1b'));
	assert_has(colored, "\x1b[1;31mDENIED\x1b[0m");
}

static void test_quantities(void **state)
{
	char text[STYLE_QUANTITY_SIZE];

	(void)state;
	style_duration(0, text);
	assert_string_equal(text, "0.00 ms");
	style_duration(1234567890, text);
	assert_string_equal(text, "1.23 s");
	style_duration(60000000000, text);
	assert_string_equal(text, "1 min");
	style_duration(125000000000, text);
	assert_string_equal(text, "2 min 5 s");
	style_duration(3 * 3600000000000 + 60000000000, text);
	assert_string_equal(text, "3 h 1 min");
	style_bytes(0, text);
	assert_string_equal(text, "0 bytes");
	style_bytes(512 << 20, text);
	assert_string_equal(text, "512 MiB");
	style_bytes(1536, text);
	assert_string_equal(text, "1.5 KiB");
}

static void test_text_limit(void **state)
{
	static const struct style style = {.unicode = true};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(style_text_in(out, &style, STYLE_PLAIN, "abcdefgh", 8), 8);
	assert_int_equal(style_text_in(out, &style, STYLE_PLAIN, "abcdefghi", 8), 8);
	assert_true(style_text_in(out, &style, STYLE_PLAIN, "\x1b\x1b\x1b\x1b", 8) <= 8);
	fclose(out);
	assert_string_equal(text, "abcdefghabcde...\\x1b...");
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_story_tells),
		TEST(test_story_attempts),
		TEST(test_story_without_start_or_end),
		TEST(test_story_recovered),
		TEST(test_story_is_bounded),
		TEST(test_story_hides_nothing_grave),
		TEST(test_damaged_lines),
		TEST(test_days),
		TEST(test_lines),
		TEST(test_nothing_injects),
		TEST(test_strange_records),
		TEST(test_colors_only_if_asked),
		cmocka_unit_test(test_quantities),
		cmocka_unit_test(test_text_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
