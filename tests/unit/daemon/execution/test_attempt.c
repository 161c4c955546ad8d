/* SPDX-License-Identifier: Apache-2.0 */
/* Which names that ordinary permissions refused are worth a record, and by which rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "daemon/execution/attempt.h"
#include "policy/compile/compile.h"

static const char text[] = "version: 1\n"
			   "name: test\n"
			   "files:\n"
			   "  - {allow: [read], paths: [\"/srv/**\"]}\n"
			   "  - {deny: [all], paths: [\"**/.aws\"], severity: high}\n"
			   "  - {deny: [write], paths: [\"/keys/**\"], tags: [secrets]}\n"
			   "  - {deny: [read], paths: [\"/srv/plain\"]}\n"
			   "  - {deny: [read], paths: [\"${workdir}/own\"], severity: low}\n"
			   "exec:\n"
			   "  - {deny: [run], paths: [/srv/tool], tags: [tools]}\n";

static struct compiled_policy *policy;
static struct audit_execution execution = {.workdir = "/home/u/w"};

static int setup(void **state)
{
	struct diagnostics *d = diagnostics_new();
	int r = policy_compile_text(text, sizeof(text) - 1, "test.yaml", NULL, d, &policy);

	(void)state;
	diagnostics_free(d);
	execution.policy = policy;
	return r;
}

static int teardown(void **state)
{
	(void)state;
	compiled_policy_free(policy);
	return 0;
}

union event {
	struct cordon_denial_event fixed;
	char bytes[sizeof(struct cordon_denial_event) + CORDON_EVENT_LARGE];
};

static size_t make(union event *event, const char *object, size_t length)
{
	*event = (union event){.fixed = {
				       .event.type = CORDON_EVENT_ATTEMPT,
				       .event.size = (uint32_t)(sizeof(event->fixed) + length),
				       .operation = CORDON_OP_LOOKUP,
				       .error = -EACCES,
				       .rule = CORDON_NO_RULE,
				       .reason = CORDON_REASON_PERMISSIONS,
				       .object_kind = CORDON_OBJECT_PATH,
				       .object_length = (uint32_t)length,
				       .object_total = (uint32_t)length,
				       .repeats = 7,
			       }};
	memcpy(event->bytes + sizeof(event->fixed), object, length);
	return event->fixed.event.size;
}

/* Line of the rule, in `text`. */
static void marked(const char *object, const char *name, unsigned int line)
{
	_cleanup_(freep) void *made = NULL;
	const struct cordon_denial_event *event;
	union event asked;
	size_t size = make(&asked, object, strlen(object));

	assert_int_equal(attempt_mark(&execution, &asked, size, &made, &size), 0);
	event = made;
	assert_int_equal(size, sizeof(*event) + strlen(name));
	assert_int_equal(event->event.size, size);
	assert_int_equal(event->object_length, strlen(name));
	assert_int_equal(event->object_total, strlen(name));
	assert_memory_equal(event->object, name, strlen(name));
	assert_int_equal(policy->rules[event->rule].line, line);
	assert_int_equal(event->event.type, CORDON_EVENT_ATTEMPT);
	assert_int_equal(event->repeats, 7);
}

static void refused(const char *object, size_t length, int error)
{
	union event asked;
	size_t size = make(&asked, object, length);
	void *made = &asked;

	assert_int_equal(attempt_mark(&execution, &asked, size, &made, &size), error);
	assert_ptr_equal(made, &asked);
}

static void unmarked(const char *object)
{
	refused(object, strlen(object), -ENODATA);
}

static void test_policy_says_so(void **state)
{
	static const char none[] =
		"version: 1\nname: none\nfiles:\n  - {deny: [read], paths: [/a]}\n"
		"network:\n  - {deny: [connect], to: [192.0.2.1], tags: [x]}\n";
	_cleanup_(compiled_policy_freep) struct compiled_policy *other = NULL;
	struct diagnostics *d = diagnostics_new();

	(void)state;
	assert_int_equal(policy_compile_text(none, sizeof(none) - 1, "n", NULL, d, &other), 0);
	diagnostics_free(d);
	assert_true(((struct cordon_policy_header *)policy->tables)->flags &
		    CORDON_POLICY_ATTEMPTS);
	/* No name is marked. */
	assert_false(((struct cordon_policy_header *)other->tables)->flags &
		     CORDON_POLICY_ATTEMPTS);
}

static void test_marked(void **state)
{
	(void)state;
	marked("/root/.aws/credentials", "/root/.aws/credentials", 5);
	/* Whatever the rule denies: what was to be done is not known. */
	marked("/keys/a", "/keys/a", 6);
	marked("/srv/tool", "/srv/tool", 10);
	/* The list of what is in it. */
	marked("/keys", "/keys", 6);
	marked("/keys/", "/keys", 6);
	/* By what the policy's variables stand for. */
	marked("/home/u/w/own", "/home/u/w/own", 8);
}

static void test_made_plain(void **state)
{
	(void)state;
	marked("/home/u//../.././root/.aws/", "/root/.aws", 5);
	marked("/../../.aws", "/.aws", 5);
	marked("//keys/../keys/b/.", "/keys/b", 6);
	marked("/srv/../keys/...", "/keys/...", 6);
	marked("/.aws/..aws", "/.aws/..aws", 5);
	unmarked("/keys/../srv/a");
	unmarked("/keys/a/../..");
}

static void test_unmarked(void **state)
{
	(void)state;
	unmarked("/root/other");
	unmarked("/srv/a");
	/* A deny rule without a severity or tags. */
	unmarked("/srv/plain");
	unmarked("/own");
	unmarked("/");
}

static void test_not_well_formed(void **state)
{
	static char longer[CORDON_EVENT_LARGE] = "/.aws/";
	union event asked;
	size_t size = make(&asked, "/.aws", 5);
	void *made;

	(void)state;
	refused(".aws", 4, -EBADMSG);
	refused("/a\0/.aws", 8, -EBADMSG);
	refused("/.aws", 0, -EBADMSG);
	asked.fixed.event.type = CORDON_EVENT_DENIAL;
	assert_int_equal(attempt_mark(&execution, &asked, size, &made, &size), -EBADMSG);
	asked.fixed.event.type = CORDON_EVENT_ATTEMPT;
	asked.fixed.object_kind = CORDON_OBJECT_SPECIAL;
	assert_int_equal(attempt_mark(&execution, &asked, size, &made, &size), -EBADMSG);
	asked.fixed.object_kind = CORDON_OBJECT_PATH;
	assert_int_equal(attempt_mark(&execution, &asked, size - 1, &made, &size), -EBADMSG);
	/* No file has such a name. */
	memset(longer + 6, 'x', 300);
	refused(longer, 306, -ENODATA);
}

/* Of an execution that another daemon left. */
static void test_no_tables(void **state)
{
	struct compiled_policy bare = *policy;

	(void)state;
	bare.tables = NULL;
	execution.policy = &bare;
	unmarked("/.aws");
	execution.policy = policy;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_says_so),	cmocka_unit_test(test_marked),
		cmocka_unit_test(test_made_plain),	cmocka_unit_test(test_unmarked),
		cmocka_unit_test(test_not_well_formed), cmocka_unit_test(test_no_tables),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
