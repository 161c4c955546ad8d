/* SPDX-License-Identifier: Apache-2.0 */
/* Entries for agents that were found, and how they come into a cordon.yaml that exists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/setup/agent_forms.h"
#include "cli/setup/setup_file.h"
#include "cli/setup/setup_plan.h"

static const struct agent_home homes[] = {
	{"alice", "/home/alice", 1000, 1000}, {"bob.x", "/home/bob", 1001, 1001},
	{"c", "/home/c", 1002, 1002},	      {"d", "/home/d", 1003, 1003},
	{"e", "/home/e", 1004, 1004},
};

static int form(const char *agent, enum agent_process process)
{
	for (size_t i = 0; i < agent_form_count; i++)
		if (strcmp(agent_forms[i].agent, agent) == 0 && agent_forms[i].process == process)
			return (int)i;
	fail();
	return -1;
}

#define VERSIONS "/home/alice/.local/share/claude/versions/"

static json_t *claude(void)
{
	return json_pack("[{s:i,s:s,s:s}]", "form", form("claude", AGENT_PROGRAM), "program",
			 VERSIONS "2.1.197", "place", "/home/alice");
}

static json_t *gemini(void)
{
	return json_pack("[{s:i,s:s,s:s,s:s}]", "form", form("gemini", AGENT_NODE), "program",
			 "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js", "place",
			 "/usr/lib/node_modules", "interpreter", "/usr/bin/node");
}

static struct setup_plan plan_of(const struct config *config, size_t users)
{
	return (struct setup_plan){
		.config = config, .homes = homes, .home_count = users, .items = json_array()};
}

static struct config *parse(const char *text)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct config *config = NULL;
	int r = config_parse(text, strlen(text), "c.yaml", d, &config);
	_cleanup_(freep) char *said = diagnostics_format(d, false);

	if (r < 0)
		print_error("%s\n%s", said, text);
	assert_int_equal(r, 0);
	return config;
}

static void add(struct setup_plan *plan, const struct agent_home *home, json_t *agents)
{
	assert_non_null(agents);
	assert_int_equal(setup_plan_add(plan, home, agents), 0);
	json_decref(agents);
}

/* The plan's entries, as a daemon would read them. */
static struct config *written(const struct setup_plan *plan, const char *before)
{
	_cleanup_(freep) char *text = NULL;

	assert_int_equal(setup_file_add(before, plan->items, &text), 0);
	return parse(text);
}

static void versions_are_a_pattern(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 2);
	_cleanup_(config_freep) struct config *config = NULL;
	const struct config_executor *is;

	add(&plan, &homes[0], claude());
	assert_int_equal(setup_plan_new(&plan), 1);
	config = written(&plan, NULL);
	assert_int_equal(config_executor_count(config), 1);
	is = config_executor_at(config, 0);
	assert_string_equal(is->name, "claude-alice");
	assert_string_equal(is->executable, VERSIONS "*");
	assert_string_equal(is->user, "alice");
	assert_string_equal(is->policy, "claude-code");
	assert_string_equal(is->workdir_under[0], "/home/alice");
	assert_string_equal(is->binds[0], "home");
	assert_string_equal(is->binds[1], "/home/alice");
	assert_null(is->arguments);
	assert_null(is->itself);
	json_decref(plan.items);
}

static void work_confines_the_agent_itself(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 2);
	_cleanup_(config_freep) struct config *config = NULL;

	plan.work = "/home/alice/src";
	add(&plan, &homes[0], claude());
	config = written(&plan, NULL);
	assert_string_equal(config_executor_at(config, 0)->itself->policy, "claude-agent");
	assert_string_equal(config_executor_at(config, 0)->itself->binds[3], "/home/alice/src");
	json_decref(plan.items);
}

/* The process is node; it starts itself again, and that is no agent code. */
static void scripts_by_their_argument(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 2);
	_cleanup_(config_freep) struct config *config = NULL;
	const struct config_executor *is;

	add(&plan, NULL, gemini());
	config = written(&plan, NULL);
	assert_int_equal(config_executor_count(config), 2);
	is = config_executor_at(config, 1);
	assert_string_equal(is->name, "gemini-bob.x");
	assert_string_equal(is->executable, "/usr/bin/node");
	assert_string_equal(is->arguments, "*bin/gemini");
	assert_string_equal(is->except[0], "/usr/bin/node");
	assert_null(is->except[1]);
	json_decref(plan.items);
}

static void many_users_share_an_entry(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, ARRAY_SIZE(homes));
	_cleanup_(config_freep) struct config *config = NULL;

	add(&plan, NULL, gemini());
	config = written(&plan, NULL);
	assert_int_equal(config_executor_count(config), 1);
	assert_null(config_executor_at(config, 0)->user);
	assert_string_equal(config_executor_at(config, 0)->workdir_under[0], "/home");
	assert_null(config_executor_at(config, 0)->workdir_under[1]);
	json_decref(plan.items);
}

static void containers_only_when_asked(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 1);
	_cleanup_(config_freep) struct config *config = NULL;
	const struct config_executor *is;
	json_t *docker = json_pack("[{s:i,s:s,s:s}]", "form", form("docker", AGENT_RUNTIME),
				   "program", "/usr/sbin/runc", "place", "");

	add(&plan, NULL, json_incref(docker));
	assert_int_equal(setup_plan_new(&plan), 0);
	json_decref(plan.items);
	plan = plan_of(NULL, 1);
	plan.containers = true;
	add(&plan, NULL, docker);
	config = written(&plan, NULL);
	is = config_executor_at(config, 0);
	assert_int_equal(is->kind, CONFIG_CONTAINER);
	assert_string_equal(is->except[0], "/usr/sbin/runc");
	assert_string_equal(is->except[1], "/usr/sbin/dockerd");
	assert_string_equal(is->volumes[0], "/home");
	json_decref(plan.items);
}

static void autogen_by_its_script(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 1);
	_cleanup_(config_freep) struct config *config = NULL;
	const struct config_executor *is;

	add(&plan, &homes[0],
	    json_pack("[{s:i,s:s,s:s,s:s,s:s}]", "form", form("autogen", AGENT_LIBRARY), "program",
		      "/home/alice/a/team.py", "place", "/home/alice/a/venv", "interpreter",
		      "/home/alice/a/venv/bin/python3", "script", "team.py"));
	config = written(&plan, NULL);
	is = config_executor_at(config, 0);
	assert_string_equal(is->arguments, "*team.py");
	assert_string_equal(is->binds[0], "venv");
	assert_string_equal(is->workdir_under[0], "/home/alice/a");
	assert_string_equal(is->workdir_under[1], "/tmp");
	json_decref(plan.items);
}

static void library_without_script_has_no_entry(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 1);

	add(&plan, &homes[0],
	    json_pack("[{s:i,s:s,s:s}]", "form", form("autogen", AGENT_LIBRARY), "program",
		      "/home/alice/a/venv/lib/x", "place", "/home/alice/a/venv"));
	assert_int_equal(json_array_size(plan.items), 1);
	assert_int_equal(setup_plan_new(&plan), 0);
	json_decref(plan.items);
}

/* --- beside entries of an admin ------------------------------------------------------------ */

static const char admin[] = "# ours\n"
			    "version: 1\n"
			    "audit: {opens: writes}\n"
			    "executors:\n"
			    "  # by hand\n"
			    "  - name: claude-alice\n"
			    "    match: {executable: /usr/bin/python3, arguments: \"*/agent.py\"}\n"
			    "    policy: autogen-local\n"
			    "    workdir_under: [/srv]\n"
			    "\n"
			    "# the end\n"
			    "require_approval: false\n";

static void lines_of_before_stay(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *before = parse(admin), *after = NULL;
	struct setup_plan plan = plan_of(before, 2);
	_cleanup_(freep) char *text = NULL;
	const char *rest = strstr(admin, "\n# the end");

	add(&plan, &homes[0], claude());
	assert_int_equal(setup_file_add(admin, plan.items, &text), 0);
	/* Its name was taken. */
	assert_non_null(strstr(text, "  - name: claude-alice-2\n"));
	assert_memory_equal(text, admin, (size_t)(rest - admin));
	assert_string_equal(text + strlen(text) - strlen(rest), rest);
	after = parse(text);
	assert_int_equal(config_executor_count(after), 2);
	json_decref(plan.items);
}

static void second_run_changes_nothing(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 2);
	_cleanup_(config_freep) struct config *config = NULL;

	add(&plan, &homes[0], claude());
	add(&plan, NULL, gemini());
	assert_int_equal(setup_plan_new(&plan), 3);
	config = written(&plan, NULL);
	json_decref(plan.items);
	plan = plan_of(config, 2);
	add(&plan, &homes[0], claude());
	add(&plan, NULL, gemini());
	assert_int_equal(json_array_size(plan.items), 3);
	assert_int_equal(setup_plan_new(&plan), 0);
	json_decref(plan.items);
}

/* An admin's entry for the same program counts, whatever else it has. */
static void admins_entry_wins(void **state)
{
	(void)state;
	static const char *const match[] = {
		"{executable: " VERSIONS "2.1.197}",
		"{executable: \"/home/*/.local/share/claude/versions/*\"}",
		"{executable: \"/home/*/.local/share/claude/versions/*\", user: alice}",
		"{executable: \"/home/*/.local/share/claude/versions/*\", user: 1000}",
	};
	static const char *const other[] = {
		"{executable: " VERSIONS "2.1.196}",
		"{executable: \"/home/*/.local/share/claude/versions/*\", user: bob}",
		"{executable: \"/home/*/.local/share/claude/versions/*\", arguments: \"-p\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(match) + ARRAY_SIZE(other); i++) {
		const bool same = i < ARRAY_SIZE(match);
		_cleanup_(config_freep) struct config *config = NULL;
		struct setup_plan plan;
		char text[512];

		snprintf(text, sizeof(text),
			 "version: 1\nexecutors:\n- {name: a, match: %s, policy: codex, "
			 "workdir_under: [/srv]}\n",
			 same ? match[i] : other[i - ARRAY_SIZE(match)]);
		config = parse(text);
		plan = plan_of(config, 2);
		add(&plan, &homes[0], claude());
		assert_int_equal(setup_plan_new(&plan), same ? 0 : 1);
		if (!same) {
			_cleanup_(config_freep) struct config *after = written(&plan, text);

			assert_int_equal(config_executor_count(after), 2);
		}
		json_decref(plan.items);
	}
}

static void lists_in_one_line_are_left_alone(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"version: 1\nexecutors: []\n",
		"version: 1\nexecutors: [{name: a, match: {executable: /x}, policy: p, "
		"workdir_under: [/srv]}]\n",
		"version: 1\nexecutors:\n  [{name: a, match: {executable: /x}, policy: p, "
		"workdir_under: [/srv]}]\n",
		"{version: 1}\n",
	};
	struct setup_plan plan = plan_of(NULL, 2);

	add(&plan, &homes[0], claude());
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *text = NULL;

		assert_int_equal(setup_file_add(texts[i], plan.items, &text), -EINVAL);
		assert_null(text);
	}
	json_decref(plan.items);
}

static void file_without_executors(void **state)
{
	(void)state;
	struct setup_plan plan = plan_of(NULL, 2);
	_cleanup_(config_freep) struct config *config = NULL;

	add(&plan, &homes[0], claude());
	config = written(&plan, "version: 1\naudit: {opens: writes}");
	assert_int_equal(config_executor_count(config), 1);
	json_decref(plan.items);
}

static void full_file(void **state)
{
	(void)state;
	_cleanup_(config_freep) struct config *config = NULL;
	_cleanup_(freep) char *text = NULL;
	struct setup_plan plan;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs("version: 1\nexecutors:\n", out);
	for (unsigned int i = 0; i < CONFIG_EXECUTORS_MAX; i++)
		fprintf(out,
			"- {name: a%u, match: {executable: /x}, policy: p, workdir_under: [/srv]}\n",
			i);
	fclose(out);
	config = parse(text);
	plan = plan_of(config, 2);
	add(&plan, &homes[0], claude());
	assert_int_equal(setup_plan_new(&plan), 0);
	assert_int_equal(json_array_size(plan.items), 1);
	json_decref(plan.items);
}

/* --- the file ------------------------------------------------------------------------------ */

static void replaced_as_it_was(void **state)
{
	(void)state;
	char directory[] = "/var/tmp/cordon-unit-setup-XXXXXX", path[128], real[128], command[128];
	_cleanup_(freep) char *text = NULL;
	struct stat st;
	size_t size;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/etc/cordon.yaml", directory);
	snprintf(real, sizeof(real), "%s/real.yaml", directory);
	/* Its directory is made. */
	assert_int_equal(setup_file_replace(path, NULL, "one"), 0);
	assert_int_equal(setup_file_replace(path, NULL, "two"), -ESTALE);
	assert_int_equal(setup_file_replace(path, "another", "two"), -ESTALE);
	/* A link stays one, and the mode as it was. */
	assert_int_equal(rename(path, real), 0);
	assert_int_equal(chmod(real, 0640), 0);
	assert_int_equal(symlink(real, path), 0);
	assert_int_equal(setup_file_replace(path, "one", "two"), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(real, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(io_read_file(AT_FDCWD, real, 100, &text, &size), 0);
	assert_string_equal(text, "two");
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_a_pattern),
		cmocka_unit_test(work_confines_the_agent_itself),
		cmocka_unit_test(scripts_by_their_argument),
		cmocka_unit_test(many_users_share_an_entry),
		cmocka_unit_test(containers_only_when_asked),
		cmocka_unit_test(autogen_by_its_script),
		cmocka_unit_test(library_without_script_has_no_entry),
		cmocka_unit_test(lines_of_before_stay),
		cmocka_unit_test(second_run_changes_nothing),
		cmocka_unit_test(admins_entry_wins),
		cmocka_unit_test(lists_in_one_line_are_left_alone),
		cmocka_unit_test(file_without_executors),
		cmocka_unit_test(full_file),
		cmocka_unit_test(replaced_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
