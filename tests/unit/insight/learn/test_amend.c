/* SPDX-License-Identifier: Apache-2.0 */
/* Proposals made from the denials of one run, under the shipped policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "insight/learn/amend.h"
#include "policy/compile/compile.h"
#include "policy/core/compiled.h"

static const char *const directories[] = {"policies", NULL};
static const struct policy_search search = {.directories = directories};

struct denial {
	const char *operation, *kind, *text, *rights; /* one right */
	const char *action;			      /* NULL: denial */
};

static json_t *denial_record(const struct denial *d, json_int_t seq)
{
	return json_pack("{s:I, s:{s:s}, s:{s:I, s:s, s:s}, s:{s:{s:s}, s:s, s:{s:s, s:s}, s:[s], "
			 "s:s, s:I}}",
			 "seq", seq, "event", "action", d->action ? d->action : "denial", "process",
			 "pid", (json_int_t)7, "entity_id", "7-1", "name", "job", "cordon",
			 "execution", "id", "019aa3c4-11d2-7abc-8def-000000000001", "operation",
			 d->operation, "object", "kind", d->kind, "text", d->text, "rights",
			 d->rights, "reason", "default", "repeats", (json_int_t)0);
}

static void add(struct recording *recording, json_t *record)
{
	assert_non_null(record);
	assert_int_equal(recording_add(recording, record), 0);
	json_decref(record);
}

static struct amendment propose(const char *policy, const struct denial *denials, size_t count)
{
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	const struct amend_options options = {.search = &search};
	struct amendment made = {};
	char file[64];

	snprintf(file, sizeof(file), "policies/%s.yaml", policy);
	add(recording,
	    json_pack("{s:I, s:{s:s}, s:{s:{s:s, s:s, s:s, s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:s}}}",
		      "seq", (json_int_t)1, "event", "action", "execution-start", "cordon",
		      "execution", "id", "019aa3c4-11d2-7abc-8def-000000000001", "program", "job",
		      "mode", "enforce", "directories", "workdir", "/srv/w", "tmp", "/tmp/cordon-a",
		      "home", "/home/a", "policy", "name", policy, "file", file, "digest", "00"));
	for (size_t i = 0; i < count; i++)
		add(recording, denial_record(&denials[i], (json_int_t)i + 2));
	assert_int_equal(amend_make(recording, &options, &made), 0);
	assert_int_equal(made.denials, count);
	return made;
}

#define PROPOSE(policy, ...)                                                                       \
	propose(policy, (const struct denial[]){__VA_ARGS__},                                      \
		sizeof((const struct denial[]){__VA_ARGS__}) / sizeof(struct denial))

static void assert_says(const struct amendment *made, const char *text)
{
	if (!made->text || !strstr(made->text, text))
		fail_msg("no \"%s\" in:\n%s", text, made->text ? made->text : "(nothing)");
}

static void assert_silent(const struct amendment *made, const char *text)
{
	if (made->text && strstr(made->text, text))
		fail_msg("\"%s\" in:\n%s", text, made->text);
}

static void test_settings(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("tight", {"create", "path", "/dev/shm/sem.7uC4zn", "create"},
			{"create", "path", "/dev/shm/sem.4uWAFS", "create"});

	(void)state;
	assert_says(&made, "process: {temporary: own}");
	assert_says(&made, "- runtime/temporary");
	assert_says(&made, "amends: \"tight\"");
	assert_silent(&made, "sem.");
	assert_int_equal(made.settled, 2);
	assert_null(made.policy);
}

/* One header was denied; the fragment has them all. */
static void test_fragments(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("shell-sandbox", {"open", "path", "/usr/include/stdio.h", "read"});
	_cleanup_(amendment_release) struct amendment git =
		PROPOSE("python-sandbox", {"exec", "path", "/usr/bin/git", "run"});

	(void)state;
	assert_says(&made, "- runtime/c-toolchain");
	assert_silent(&made, "stdio.h");
	assert_int_equal(made.settled, 1);
	assert_says(&git, "- runtime/git");
	assert_silent(&git, "runtime/shell");
}

static void test_rights_together(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("python-sandbox", {"exec", "path", "/opt/tool/bin/x", "run"},
			{"mknod", "path", "/srv/w/f9", "special"},
			{"create", "path", "/srv/data/tmpab12cd34", "create"});

	(void)state;
	assert_silent(&made, "first in record");
	assert_says(&made, "exec:\n  - allow: [run, map]\n    paths:\n      - \"/opt/tool/bin/x\"");
	assert_says(&made, "\"${workdir}/f9\"");
	assert_says(&made, "special");
	assert_says(&made, "\"/srv/data/tmp*\"");
	assert_int_equal(made.settled, 3);
}

static void test_network(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("shell-sandbox", {"socket", "socket", "inet/stream/tcp", "socket"});

	(void)state;
	assert_says(&made, "allow: [connect, bind, listen], to: [\"127.0.0.1\"]");
	assert_says(&made, "to: [\"::1\"]");
	assert_int_equal(made.settled, 1);
	assert_int_equal(json_array_size(made.notes), 1);
}

/* Nothing that is added lifts a deny: it is named with its file, line and owner. */
static void test_denies(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("python-sandbox", {"open", "path", "/srv/w/.env", "read"});
	const json_t *deny = json_array_get(made.denied, 0);

	(void)state;
	assert_null(made.text);
	assert_int_equal(made.settled, 0);
	assert_int_equal(json_array_size(made.denied), 1);
	assert_non_null(strstr(json_string_value(json_object_get(deny, "file")), "credentials"));
	assert_true(json_integer_value(json_object_get(deny, "line")) > 0);
}

/* Credentials are left out. */
static void test_credentials(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("lockdown", {"open", "path", "/root/.ssh/id_rsa", "read"});

	(void)state;
	assert_silent(&made, "id_rsa");
	assert_true(json_array_size(made.notes) + json_array_size(made.denied) > 0);
}

static void test_other_policy(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("shell-sandbox", {"create", "path", "/srv/w/f9", "special"},
			{"open", "path", "/usr/include/stdio.h", "read"},
			{"trace", "path", "/srv/w/x", "read"});

	(void)state;
	assert_non_null(made.policy);
	assert_string_equal(made.policy, "build-c");
}

/* Policies for containers allow everything, and are not proposed. */
static void test_no_other_policy(void **state)
{
	_cleanup_(amendment_release) struct amendment made =
		PROPOSE("tight", {"exec", "path", "/usr/bin/timeout", "run"},
			{"create", "path", "/dev/shm/sem.7uC4zn", "create"},
			{"open", "path", "/dev/shm/sem.7uC4zn", "write"},
			{"open", "path", "/dev/shm/of-another", "write"});

	(void)state;
	assert_null(made.policy);
	assert_silent(&made, "sem.");
	assert_says(&made, "of-another");
	assert_int_equal(made.settled, 4);
}

static void test_nothing(void **state)
{
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	const struct amend_options options = {.search = &search, .policy = "shell-sandbox"};
	struct amendment made;

	(void)state;
	assert_int_equal(amend_make(recording, &options, &made), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),	cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_rights_together), cmocka_unit_test(test_network),
		cmocka_unit_test(test_denies),		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_other_policy),	cmocka_unit_test(test_no_other_policy),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
