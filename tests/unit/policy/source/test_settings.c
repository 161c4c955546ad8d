/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of a policy that is no rule: limits, environment, flags, audit, and the digest. */
#include "policy/source/units.h"
#include "tests/unit/policy/support.h"

static void test_durations_and_sizes(void **state)
{
	uint64_t n;

	(void)state;
	assert_int_equal(units_duration("500ms", &n), 0);
	assert_int_equal(n, 500000000);
	assert_int_equal(units_duration("1.5s", &n), 0);
	assert_int_equal(n, 1500000000);
	assert_int_equal(units_duration("2h", &n), 0);
	assert_int_equal(n, 7200000000000);
	assert_int_equal(units_duration("60", &n), -ENODATA);
	assert_int_equal(units_duration("", &n), -EINVAL);
	assert_int_equal(units_duration("s", &n), -EINVAL);
	assert_int_equal(units_duration("1.2345s", &n), -EINVAL);
	assert_int_equal(units_duration("999999999999d", &n), -ERANGE);
	assert_int_equal(units_duration("99999999999999999999999s", &n), -ERANGE);
	assert_int_equal(units_size("512M", &n), 0);
	assert_int_equal(n, 512ull << 20);
	assert_int_equal(units_size("1.5GiB", &n), 0);
	assert_int_equal(n, 3ull << 29);
	assert_int_equal(units_size("1MB", &n), -EINVAL);
	assert_int_equal(units_size("9999999T", &n), -ERANGE);
	assert_int_equal(units_cpu("150%", &n), 0);
	assert_int_equal(n, 150);
	assert_int_equal(units_cpu("1.5 cpus", &n), 0);
	assert_int_equal(n, 150);
	assert_int_equal(units_cpu("2", &n), -ENODATA);
	assert_int_equal(units_number("18446744073709551615", &n), 0);
	assert_int_equal(units_number("18446744073709551616", &n), -ERANGE);
}

static void test_whole_policy(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\n"
		"name: whole\n"
		"description: all of it\n"
		"mode: observe\n"
		"process: {signal: any, trace: own, namespaces: allow,\n"
		"          capabilities: [CAP_NET_BIND_SERVICE, chown]}\n"
		"limits: {wall: 1m, memory: 1G, pids: 64, cpu: 200%, cpu_time: 5s,\n"
		"         address_space: none, file_size: 64K, open_files: 256}\n"
		"environment: {keep: [PATH, 'LC_*'], set: {A: '1', B: ''}}\n"
		"audit: {opens: writes, connects: denied, execs: denied, arguments: full}\n"
		"on_denial: {limit: 20, action: kill}\n"
		"ask: 30s\n"
		"files:\n"
		"  - allow: [read, write]\n"
		"    paths: [/a, '${tmp}/**']\n"
		"    severity: high\n"
		"    tags: [x, y]\n"
		"    message: why\n");
	const struct cordon_policy_header *h = (const void *)p->tables;

	(void)state;
	assert_string_equal(p->name, "whole");
	assert_string_equal(p->description, "all of it");
	assert_string_equal(p->file, "test.yaml");
	assert_true(p->observe);
	assert_int_equal(h->flags, CORDON_POLICY_OBSERVE | CORDON_POLICY_SIGNAL_ANY |
					   CORDON_POLICY_TRACE_OWN | CORDON_POLICY_NAMESPACES);
	assert_int_equal(h->capabilities, 1u << 10 | 1u << 0);
	assert_int_equal(CORDON_AUDIT_LEVEL(h->audit, OPENS), CORDON_AUDIT_WRITES);
	assert_int_equal(CORDON_AUDIT_LEVEL(h->audit, CONNECTS), CORDON_AUDIT_NONE);
	assert_int_equal(CORDON_AUDIT_LEVEL(h->audit, EXECS), CORDON_AUDIT_NONE);
	assert_int_equal(p->arguments, POLICY_ARGUMENTS_FULL);
	assert_int_equal(h->denial_limit, 20);
	assert_int_equal(h->ask_msec, 30000);
	assert_int_equal(p->limits.wall_nsec, 60000000000);
	assert_int_equal(p->limits.cpu_percent, 200);
	assert_int_equal(p->limits.address_space_bytes, 0);
	assert_int_equal(p->limits.file_size_bytes, 65536);
	assert_false(p->environment.keep_all);
	assert_string_equal(p->environment.keep[1], "LC_*");
	assert_null(p->environment.keep[2]);
	assert_string_equal(p->environment.set_names[1], "B");
	assert_string_equal(p->environment.set_values[1], "");
	assert_null(p->environment.set_names[2]);
	assert_int_equal(p->rule_count, 1);
	assert_string_equal(p->rules[0].text, "allow read, write /a, ${tmp}/**");
	assert_string_equal(p->rules[0].file, "test.yaml");
	assert_int_equal(p->rules[0].line, 14);
	assert_string_equal(p->rules[0].severity, "high");
	assert_string_equal(p->rules[0].message, "why");
	assert_string_equal(p->rules[0].tags[1], "y");
	assert_null(p->rules[0].tags[2]);
}

static uint32_t flags_of(const char *text)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(text);

	return ((const struct cordon_policy_header *)p->tables)->flags;
}

/* The last word counts, whichever came before. */
static void test_namespaces(void **state)
{
	static const struct {
		const char *word;
		uint32_t flags;
	} cases[] = {
		{"deny", 0},
		{"allow", CORDON_POLICY_NAMESPACES},
		{"own", CORDON_POLICY_NAMESPACES | CORDON_POLICY_OWN_NAMESPACES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];

		snprintf(text, sizeof(text), "version: 1\nprocess: {namespaces: %s}\n",
			 cases[i].word);
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(text);
		const struct cordon_policy_header *h = (const void *)p->tables;

		assert_int_equal(h->flags &
					 (CORDON_POLICY_NAMESPACES | CORDON_POLICY_OWN_NAMESPACES),
				 cases[i].flags);
	}
}

static void test_start_settings(void **state)
{
	(void)state;
	assert_int_equal(flags_of("version: 1\nprocess: {system_calls: strict}\n"),
			 CORDON_POLICY_STRICT_CALLS);
	assert_int_equal(flags_of("version: 1\nprocess: {system_calls: all, io_uring: allow}\n"),
			 CORDON_POLICY_ALL_SYSTEM_CALLS | CORDON_POLICY_IO_URING);
	assert_int_equal(flags_of("version: 1\nprocess: {metadata: deny}\ncoverage: full\n"),
			 CORDON_POLICY_METADATA | CORDON_POLICY_FULL_COVERAGE);
	assert_int_equal(flags_of("version: 1\nprocess: {special: deny}\n"), CORDON_POLICY_SPECIAL);
	assert_int_equal(flags_of("version: 1\nprocess: {special: allow}\n"), 0);
	assert_int_equal(flags_of("version: 1\nprocess: {temporary: own}\n"),
			 CORDON_POLICY_OWN_TEMPORARY);
	assert_int_equal(flags_of("version: 1\nprocess: {temporary: deny}\n"), 0);
	assert_int_equal(flags_of("version: 1\nprocess: {terminals: own}\n"),
			 CORDON_POLICY_OWN_TERMINALS);
	assert_int_equal(flags_of("version: 1\nprocess: {terminals: deny}\n"), 0);
	assert_int_equal(flags_of("version: 1\nprocess: {descriptors: deny}\n"),
			 CORDON_DESCRIPTORS_DENY << CORDON_POLICY_DESCRIPTORS_SHIFT);
	assert_int_equal(flags_of("version: 1\nprocess: {descriptors: record}\n"),
			 CORDON_DESCRIPTORS_RECORD << CORDON_POLICY_DESCRIPTORS_SHIFT);
}

static void test_defaults(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good("version: 1\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *watch =
		compile_good("version: 1\nmode: observe\n");
	const struct cordon_policy_header *h = (const void *)p->tables;

	(void)state;
	assert_string_equal(p->name, "test");
	assert_int_equal(h->flags, 0);
	assert_int_equal(h->capabilities, 0);
	assert_int_equal(h->anchors_used, 0);
	assert_int_equal(CORDON_AUDIT_LEVEL(h->audit, OPENS), CORDON_AUDIT_NONE);
	assert_int_equal(CORDON_AUDIT_LEVEL(h->audit, CONNECTS), CORDON_AUDIT_ALL);
	assert_false(p->environment.keep_all);
	assert_string_equal(p->environment.keep[0], "PATH");
	assert_true(watch->environment.keep_all);
	for (unsigned int start = 0; start < CORDON_START_COUNT; start++)
		if (start != CORDON_START_SOCKET)
			assert_int_equal(h->start[start], CORDON_STATE_DEAD);
}

/* The same rules give the same bytes; whatever the kernel is told differently gives others. */
static void test_digest(void **state)
{
	static const char rules[] = "version: 1\nfiles:\n  - {allow: [read], paths: [/a, /b/**]}\n";
	static const char same[] = "version: 1\n# said differently\nfiles:\n"
				   "- {allow: [read], paths: [\"/b/**\", /a]}\n";
	static const char other[] = "version: 1\nfiles:\n  - {allow: [read], paths: [/a, /c/**]}\n";
	_cleanup_(compiled_policy_freep) struct compiled_policy *a = compile_good(rules);
	_cleanup_(compiled_policy_freep) struct compiled_policy *b = compile_good(rules);
	_cleanup_(compiled_policy_freep) struct compiled_policy *c = compile_good(same);
	_cleanup_(compiled_policy_freep) struct compiled_policy *d = compile_good(other);

	(void)state;
	assert_int_equal(a->tables_size, b->tables_size);
	assert_memory_equal(a->tables, b->tables, a->tables_size);
	assert_string_equal(a->digest_text, c->digest_text);
	assert_string_not_equal(a->digest_text, d->digest_text);
}

static void test_shipped_policies(void **state)
{
	static const char *const names[] = {"python-sandbox", "shell-sandbox"};
	static const char *const directories[] = {"policies", NULL};
	static const struct policy_search search = {.directories = directories};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;

		assert_int_equal(policy_compile(names[i], &search, d, &p), 0);
		assert_int_equal(diagnostics_count(d), 0);
		assert_int_equal(policy_tables_check(p->tables, p->tables_size), 0);
		assert_string_equal(p->name, names[i]);
		assert_false(p->observe);
		assert_true(granted_path(p, "/usr/bin/python3.11", CORDON_RUN));
		assert_true(granted_path(p, "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
					 CORDON_MAP));
		assert_true(granted(p, CORDON_START_ANCHOR, "/result.csv", CORDON_CREATE));
		assert_true(granted_path(p, "/dev/null", CORDON_WRITE));
		assert_false(granted_path(p, "/etc/shadow", CORDON_READ));
		assert_false(granted_path(p, "/root/.ssh/id_rsa", CORDON_READ));
		assert_false(granted_path(p, "/root/notes", CORDON_READ));
		assert_false(granted_path(p, "/usr/lib/python3/x.py", CORDON_WRITE));
		assert_false(granted_path(p, "/proc/1/environ", CORDON_READ));
		assert_false(granted_path(p, "@memfd", CORDON_RUN));
		assert_true((ask(p, CORDON_START_ANCHOR, "/.git/hooks/x", 13).deny &
			     CORDON_RIGHT(CORDON_CREATE)) != 0);
		assert_int_equal(ask(p, CORDON_START_NET, "\4\6\1\2\3\4\0\120", 8).allow, 0);
	}
}

/* Only what no rule allows is on record with all the rights that were asked for. */
static void test_observe_allows_nothing(void **state)
{
	static const char *const directories[] = {"policies", NULL};
	static const struct policy_search search = {.directories = directories};
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	struct cordon_policy_header header;

	(void)state;
	assert_int_equal(policy_compile("observe", &search, d, &p), 0);
	assert_true(p->observe);
	assert_int_equal(p->rule_count, 0);
	memcpy(&header, p->tables, sizeof(header));
	assert_int_equal(header.capabilities, 0);
	assert_int_equal(header.flags, CORDON_POLICY_OBSERVE);
	assert_true(p->environment.keep_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations_and_sizes),
		cmocka_unit_test(test_whole_policy),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_start_settings),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_shipped_policies),
		cmocka_unit_test(test_observe_allows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
