/* SPDX-License-Identifier: Apache-2.0 */
/* cordon.yaml: what it takes, and what is said of what it does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "bpf/abi.h"
#include "base/clock.h"
#include "config/config.h"

static struct config *parse(const char *text, char **ret_message)
{
	struct diagnostics *d = diagnostics_new();
	struct config *config = NULL;

	assert_non_null(d);
	(void)config_parse(text, strlen(text), "cordon.yaml", d, &config);
	*ret_message = diagnostics_format(d, 0);
	diagnostics_free(d);
	return config;
}

static void refused(const char *text, const char *message)
{
	char *said = NULL;
	struct config *config = parse(text, &said);

	if (config || !strstr(said, message))
		fail_msg("expected \"%s\", not: %s", message, said);
	free(said);
}

#define HEAD	 "version: 1\nexecutors:\n"
#define REQUIRED "match: {executable: /usr/bin/a}, policy: p, workdir_under: [/srv]"

static void audit(void **state)
{
	static const struct {
		const char *text;
		uint32_t levels;
	} cases[] = {
		{"version: 1\n", 0},
		{"version: 1\naudit: {}\n", 0},
		{"version: 1\naudit: {opens: writes}\n",
		 CORDON_AUDIT_WRITES << CORDON_AUDIT_OPENS_SHIFT},
		{"version: 1\naudit: {connects: all, opens: all}\n",
		 CORDON_AUDIT_ALL << CORDON_AUDIT_OPENS_SHIFT |
			 CORDON_AUDIT_ALL << CORDON_AUDIT_CONNECTS_SHIFT},
		{"version: 1\naudit: {connects: denied, opens: denied}\n", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said = NULL;
		struct config *config = parse(cases[i].text, &said);

		if (!config)
			fail_msg("%s", said);
		assert_int_equal(config_audit(config), cases[i].levels);
		config_free(config);
		free(said);
	}
	refused("version: 1\naudit: {opens: some}\n", "audit level");
	refused("version: 1\naudit: {connects: writes}\n", "audit level");
	refused("version: 1\naudit: {arguments: full}\n", "arguments");
	refused("version: 1\naudit: all\n", "audit");
}

static void whole(void **state)
{
	static const char text[] = HEAD
		"  - name: autogen\n"
		"    match: {executable: /opt/a, arguments: \"*agent*\", user: 1000, cgroup: /x/y}\n"
		"    children: {except: [/usr/bin/git], arguments: \"*tmp_code_*\"}\n"
		"    kind: session\n"
		"    policy: autogen-local\n"
		"    timeout: 90s\n"
		"    grace: 1.5s\n"
		"    workdir_under: [/srv/a, /srv/b]\n"
		"    agent: writer\n"
		"    session: s1\n"
		"    when_away: enforce-only\n"
		"    stdin: null\n"
		"    hold: false\n";
	const struct config_executor *e;
	char *said = NULL;
	struct config *config = parse(text, &said);

	(void)state;
	if (!config)
		fail_msg("%s", said);
	assert_int_equal(config_executor_count(config), 1);
	e = config_executor_at(config, 0);
	assert_string_equal(e->name, "autogen");
	assert_string_equal(e->executable, "/opt/a");
	assert_string_equal(e->arguments, "*agent*");
	assert_string_equal(e->user, "1000");
	assert_string_equal(e->cgroup, "/x/y");
	assert_null(e->programs[0]);
	assert_string_equal(e->except[0], "/usr/bin/git");
	assert_string_equal(e->child_arguments, "*tmp_code_*");
	assert_int_equal(e->kind, CONFIG_SESSION);
	assert_string_equal(e->policy, "autogen-local");
	assert_true(e->timeout_nsec == 90000000000ull);
	assert_int_equal(e->grace_msec, 1500);
	assert_string_equal(e->workdir_under[1], "/srv/b");
	assert_null(e->workdir_under[2]);
	assert_string_equal(e->agent, "writer");
	assert_string_equal(e->session, "s1");
	assert_true(e->no_input);
	assert_int_equal(e->away, CONFIG_AWAY_ENFORCE_ONLY);
	assert_false(e->hold);
	free(said);
	config_free(config);
}

static void defaults(void **state)
{
	char *said = NULL;
	struct config *config = parse(HEAD "  - {name: a, " REQUIRED "}\n", &said);
	const struct config_executor *e;

	(void)state;
	assert_non_null(config);
	e = config_executor_at(config, 0);
	assert_int_equal(e->kind, CONFIG_PER_RUN);
	assert_int_equal(e->away, CONFIG_AWAY_DENY);
	assert_true(e->hold);
	assert_null(config_executor_at(config, 1));
	free(said);
	config_free(config);
	config = parse("version: 1\n", &said);
	assert_non_null(config);
	assert_int_equal(config_executor_count(config), 0);
	free(said);
	config_free(config);
}

static void mistakes(void **state)
{
	(void)state;
	refused("", "cordon.yaml:1:1: error: the file is empty");
	refused("executors: []\n", "the configuration has no version");
	refused("version: 2\n",
		"cordon.yaml:1:10: error: this cordon reads configuration version 1");
	refused("version: 1\nexecutor: []\n", "did you mean \"executors\"?");
	refused("version: 1\nexecutors: {}\n", "a list expected");
	refused(HEAD "  - {" REQUIRED "}\n", "the executor has no name");
	refused(HEAD "  - {name: a, policy: p, workdir_under: [/srv]}\n",
		"the executor has no executable");
	refused(HEAD "  - {name: a, match: {executable: /a}, workdir_under: [/srv]}\n",
		"has no policy");
	refused(HEAD "  - {name: a, match: {executable: /a}, policy: p}\n",
		"the executor has no workdir_under");
	refused(HEAD "  - {name: a, match: {executable: a}, policy: p}\n",
		"cordon.yaml:3:35: error: executable \"a\" is not an absolute path");
	refused(HEAD "  - {name: a, match: {executable: ~/bin/a}, policy: p}\n",
		"does not name the user of the home directory");
	refused(HEAD "  - {name: a, match: {executable: /srv/**/a}, policy: p}\n",
		"write one * for each directory");
	refused(HEAD "  - {name: a, match: {executable: /s*/a}, policy: p}\n",
		"its first directory cannot be a pattern");
	refused(HEAD "  - {name: a, match: {executable: \"/srv/*/[ab]\"}, policy: p}\n",
		"only * is a pattern here");
	refused(HEAD
		"  - {name: a, match: {executable: /srv/*/01234567890123456789012345678901234567"
		"89012345678901234567890123}, policy: p}\n",
		"longer than 64 bytes from its first *");
	refused(HEAD "  - {name: a, match: {executible: /a}, policy: p}\n",
		"did you mean \"executable\"?");
	refused(HEAD "  - {name: a, match: {executable: /a}, policy: x/y.yaml}\n",
		"depends on where the daemon was started");
	refused(HEAD "  - {name: -a, " REQUIRED "}\n", "no name for an executor");
	refused(HEAD "  - {name: a, kind: per_run, " REQUIRED "}\n", "did you mean \"per-run\"?");
	refused(HEAD "  - {name: a, timeout: 5, " REQUIRED "}\n", "timeout is no duration");
	refused(HEAD "  - {name: a, timeout: 0s, " REQUIRED "}\n", "timeout is no duration");
	refused(HEAD "  - {name: a, grace: 5, " REQUIRED "}\n", "grace is no such duration");
	refused(HEAD "  - {name: a, grace: 25h, " REQUIRED "}\n", "2s, or none");
	refused(HEAD "  - {name: a, hold: \"true\", " REQUIRED "}\n", "hold must be true or false");
	refused(HEAD "  - {name: a, when_away: allow, " REQUIRED "}\n",
		"unknown when_away \"allow\"");
	refused(HEAD "  - {name: a, stdin: pipe, " REQUIRED "}\n", "unknown stdin \"pipe\"");
	refused(HEAD "  - {name: a, children: {programs: [/a], except: [/b]}, " REQUIRED "}\n",
		"programs and except exclude each other");
	refused(HEAD "  - {name: a, " REQUIRED "}\n  - {name: a, " REQUIRED "}\n",
		"there is an executor \"a\" already, in line 3");
	refused(HEAD
		"  - {name: a, children: {arguments: \"0123456789012345678901234567890123456789"
		"0123456789012345678901234\"}, " REQUIRED "}\n",
		"arguments must have 1 to 64 bytes");
	refused("version: 1\n\xff", "this is not UTF-8");
}

static void files(void **state)
{
	struct diagnostics *d = diagnostics_new();
	struct config *config = NULL;

	(void)state;
	assert_int_equal(config_load("/nonexistent/cordon.yaml", d, &config), -ENOENT);
	assert_int_equal(diagnostics_errors(d), 0);
	assert_int_equal(config_load("/", d, &config), -EISDIR);
	assert_int_equal(diagnostics_errors(d), 1);
	diagnostics_free(d);
}

/*
 * The keys that the parser lists when it is given one that it does not know are the schema's, all
 * of them.
 */
static void same_keys(json_t *properties, const char *text)
{
	char *said = NULL, *known, *save = NULL;
	size_t count = 0;

	assert_null(parse(text, &said));
	known = strstr(said, "known keys: ");
	assert_non_null(known);
	known += strlen("known keys: ");
	known[strcspn(known, "\n")] = '\0';
	for (char *key = strtok_r(known, ", ", &save); key; key = strtok_r(NULL, ", ", &save)) {
		if (!json_object_get(properties, key))
			fail_msg("the schema lacks \"%s\"", key);
		count++;
	}
	assert_int_equal(count, json_object_size(properties));
	free(said);
}

static void schema(void **state)
{
	json_t *root = json_load_file("docs/cordon.schema.json", JSON_REJECT_DUPLICATES, NULL);
	json_t *executor;

	(void)state;
	assert_non_null(root);
	executor = json_object_get(json_object_get(json_object_get(root, "$defs"), "executor"),
				   "properties");
	same_keys(json_object_get(root, "properties"), "version: 1\nqqqqqqqqqqqqqqqq: 1\n");
	same_keys(executor, HEAD "  - {qqqqqqqqqqqqqqqq: 1}\n");
	same_keys(json_object_get(json_object_get(executor, "match"), "properties"),
		  HEAD "  - {match: {qqqqqqqqqqqqqqqq: 1}}\n");
	same_keys(json_object_get(json_object_get(executor, "children"), "properties"),
		  HEAD "  - {children: {qqqqqqqqqqqqqqqq: 1}}\n");
	json_decref(root);
}

static void containers(void **state)
{
	static const char text[] = HEAD "  - name: podman\n"
					"    match: {executable: /usr/bin/crun}\n"
					"    kind: container\n"
					"    policy: p\n"
					"    volumes: [/srv/data]\n"
					"    bind: {venv: /opt/venv, home: /srv/home}\n"
					"    gate: [/usr/local/bin/look, --hard]\n"
					"    stage: ephemeral\n"
					"    children: {except: [/usr/bin/crun, /usr/bin/hook]}\n"
					"    lifetime: 8h\n"
					"    agent: {variable: AGENT}\n";
	const struct config_executor *e;
	char *said = NULL;
	struct config *config = parse(text, &said);

	(void)state;
	if (!config)
		fail_msg("%s", said);
	e = config_executor_at(config, 0);
	assert_string_equal(config_kind_name(e->kind), "container");
	assert_string_equal(e->except[1], "/usr/bin/hook");
	assert_true(e->has_lifetime);
	assert_true(e->lifetime_nsec == 8 * 3600 * NSEC_PER_SEC);
	assert_string_equal(config_stage_name(e->stage), "ephemeral");
	assert_string_equal(e->volumes[0], "/srv/data");
	assert_null(e->volumes[1]);
	assert_string_equal(e->binds[0], "venv");
	assert_string_equal(e->binds[3], "/srv/home");
	assert_null(e->binds[4]);
	assert_string_equal(e->gate[1], "--hard");
	assert_null(e->gate[2]);
	assert_int_equal(e->agent_source, CONFIG_AGENT_VARIABLE);
	assert_string_equal(e->agent, "AGENT");
	config_free(config);
	free(said);
}

/* One that would start no container is in force all the same: it refuses. */
static void runtime_of_docker(void **state)
{
	static const char *const entries[] = {
		HEAD
		"  - {name: a, kind: container, match: {executable: /usr/sbin/runc}, policy: p}\n",
		HEAD
		"  - {name: a, kind: container, match: {executable: /usr/sbin/runc}, policy: p, "
		"children: {except: [/usr/sbin/runc]}}\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *said = NULL;
		struct config *config = parse(entries[i], &said);

		assert_non_null(config);
		assert_int_equal(said && strstr(said, "executes itself again"), i == 0);
		config_free(config);
		free(said);
	}
}

static void contradictions(void **state)
{
	(void)state;
	refused(HEAD "  - {name: a, kind: container, " REQUIRED "}\n", "a container has its own");
	refused(HEAD "  - {name: a, volumes: [/x], " REQUIRED "}\n",
		"volumes are for kind: container");
	refused(HEAD "  - {name: a, lifetime: 8h, " REQUIRED "}\n",
		"lifetime is for kind: container");
	refused(HEAD "  - {name: a, lifetime: soon, " REQUIRED "}\n", "lifetime is no duration");
	refused(HEAD "  - {name: a, match: {executable: /usr/bin/a}, policy: p, kind: container, "
		     "children: {programs: [/usr/bin/b]}}\n",
		"agent code, whatever its name");
	refused(HEAD "  - {name: a, match: {executable: /usr/bin/a}, policy: p, kind: container, "
		     "children: {arguments: \"*b\"}}\n",
		"agent code, whatever its name");
	refused(HEAD "  - {name: a, volumes: [x], " REQUIRED "}\n", "not an absolute path");
	refused(HEAD "  - {name: a, gate: [/x], hold: false, " REQUIRED "}\n", "the gate requires");
	refused(HEAD "  - {name: a, gate: [/x], when_away: enforce-only, " REQUIRED "}\n",
		"the gate requires");
	refused(HEAD "  - {name: a, gate: [x], " REQUIRED "}\n", "not an absolute path");
	refused(HEAD "  - {name: a, bind: {workdir: /x}, " REQUIRED "}\n", "each execution's own");
	refused(HEAD "  - {name: a, bind: {venv: x}, " REQUIRED "}\n", "not an absolute path");
	refused(HEAD "  - {name: a, bind: x, " REQUIRED "}\n", "bind:");
	refused(HEAD "  - {name: a, agent: {}, " REQUIRED "}\n", "{cgroup: true}");
	refused(HEAD "  - {name: a, agent: {variable: A, cgroup: true}, " REQUIRED "}\n",
		"{cgroup: true}");
	refused(HEAD "  - {name: a, stage: test, " REQUIRED "}\n", "stage");
}

/* The executor's own processes. */
static void itself(void **state)
{
	static const char text[] = HEAD "  - {name: a, " REQUIRED ", when_away: enforce-only, "
					"itself: {policy: q, bind: {data: /srv/data}}}\n";
	char many[8192] = HEAD, *said = NULL;
	struct config *config = parse(text, &said);
	const struct config_executor *e;

	(void)state;
	if (!config)
		fail_msg("%s", said);
	e = config_executor_at(config, 0)->itself;
	assert_string_equal(e->name, "a/itself");
	assert_string_equal(e->policy, "q");
	assert_string_equal(e->binds[1], "/srv/data");
	assert_int_equal(e->away, CONFIG_AWAY_ENFORCE_ONLY);
	assert_true(e->is_itself && e->hold && !e->itself);
	/* Nobody has an executor end for being asked to. */
	assert_int_equal(e->grace_msec, 0);
	assert_int_equal(config_executor_at(config, 0)->grace_msec, 2000);
	config_free(config);
	free(said);
	refused(HEAD "  - {name: a, " REQUIRED ", itself: {}}\n", "itself has no policy");
	refused(HEAD "  - {name: a, " REQUIRED ", itself: {policy: q, gate: [/a]}}\n", "gate");
	refused(HEAD "  - {name: a, match: {executable: /usr/bin/a}, policy: p, kind: container, "
		     "itself: {policy: q}}\n",
		"runtime");
	for (int i = 0; i < 17; i++)
		sprintf(many + strlen(many), "  - {name: a%d, " REQUIRED ", itself: {policy: q}}\n",
			i);
	refused(many, "more than 32 executors");
}

static void approval(void **state)
{
	static const struct {
		const char *text;
		bool required;
	} cases[] = {
		{"version: 1\n", false},
		{"version: 1\nrequire_approval: true\n", true},
		{"version: 1\nrequire_approval: false\n", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said = NULL;
		struct config *config = parse(cases[i].text, &said);
		size_t size = 0;

		assert_non_null(config);
		assert_int_equal(config_require_approval(config), cases[i].required);
		assert_string_equal(config_text(config, &size), cases[i].text);
		assert_int_equal(size, strlen(cases[i].text));
		config_free(config);
		free(said);
	}
	refused("version: 1\nrequire_approval: maybe\n", "require_approval");
}

static void idle_and_own(void **state)
{
	char *said = NULL;
	struct config *config = parse("version: 1\nidle: 5m\napprovals: {own: true}\n", &said);

	(void)state;
	assert_non_null(config);
	assert_int_equal(config_idle_nsec(config), 300000000000);
	assert_true(config_own_approvals(config));
	config_free(config);
	free(said);
	said = NULL;
	config = parse("version: 1\n", &said);
	assert_int_equal(config_idle_nsec(config), 0);
	assert_false(config_own_approvals(config));
	config_free(config);
	free(said);
	refused("version: 1\nidle: 1ms\n", "idle is no duration");
	refused("version: 1\nidle: soon\n", "idle is no duration");
	refused("version: 1\napprovals: {own: perhaps}\n", "own must be true or false");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(audit),	  cmocka_unit_test(idle_and_own),
		cmocka_unit_test(whole),	  cmocka_unit_test(itself),
		cmocka_unit_test(defaults),	  cmocka_unit_test(mistakes),
		cmocka_unit_test(files),	  cmocka_unit_test(schema),
		cmocka_unit_test(containers),	  cmocka_unit_test(runtime_of_docker),
		cmocka_unit_test(contradictions), cmocka_unit_test(approval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
