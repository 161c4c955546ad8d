/* SPDX-License-Identifier: Apache-2.0 */
/* Agents are found in folder trees as their installers make them, and in no other place. */
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
#include "cli/setup/agent_forms.h"
#include "cli/setup/agent_search.h"

static char top[] = "/var/tmp/cordon-unit-agents-XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	assert_non_null(mkdtemp(top));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s %s-outside", top, top);
	return system(command);
}

/* A file below `top` with its directories. */
static void make(const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/%s", top, path);
	for (char *at = whole + strlen(top) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(whole, 0755);
		*at = '/';
	}
	file = fopen(whole, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int take(void *context, json_t *agent)
{
	return json_array_append_new(context, agent);
}

static json_t *search_with(bool home, unsigned int budget, int *ret)
{
	json_t *agents = json_array();
	_cleanup_(closep) int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct agent_search search = {
		.tree = {.fd = fd, .budget = budget},
		.base = top,
		.home = home,
		.found = take,
		.context = agents,
	};

	assert_true(fd >= 0);
	*ret = agent_search(&search);
	return agents;
}

static json_t *search(bool home)
{
	int r;
	json_t *agents = search_with(home, 100000, &r);

	assert_int_equal(r, 0);
	return agents;
}

static const char *text_of(const json_t *agents, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(agents, i), key));
}

static const struct agent_form *form_of(const json_t *agents, size_t i)
{
	return &agent_forms[json_integer_value(json_object_get(json_array_get(agents, i), "form"))];
}

/* One agent, with its name, and the program below `top`. */
static void assert_one(bool home, const char *agent, enum agent_process process,
		       const char *program)
{
	_cleanup_(json_decrefp) json_t *agents = search(home);
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", top, program);
	assert_int_equal(json_array_size(agents), 1);
	assert_string_equal(form_of(agents, 0)->agent, agent);
	assert_int_equal(form_of(agents, 0)->process, process);
	assert_string_equal(text_of(agents, 0, "program"), path);
}

static void assert_none(bool home)
{
	_cleanup_(json_decrefp) json_t *agents = search(home);

	assert_int_equal(json_array_size(agents), 0);
}

#define ELF	"\177ELF..."
#define MODULES ".nvm/versions/node/v22.1.0/lib/node_modules/"
#define MUSL	"vendor/x86_64-unknown-linux-musl/"

static void nothing_in_an_empty_home(void **state)
{
	(void)state;
	assert_none(true);
	assert_none(false);
}

/* One version is reported, because the entry matches all by a pattern. */
static void claude_native(void **state)
{
	(void)state;
	make(".local/share/claude/versions/2.1.197", ELF);
	assert_one(true, "claude", AGENT_PROGRAM, ".local/share/claude/versions/2.1.197");
	make(".local/share/claude/versions/2.1.198", ELF);
	_cleanup_(json_decrefp) json_t *agents = search(true);
	assert_int_equal(json_array_size(agents), 1);
}

static void no_program_is_none(void **state)
{
	(void)state;
	make(".local/share/claude/versions/2.1.197", "#!/bin/sh\n");
	make("lib/node_modules/@openai/codex/bin/codex.js", "#!/usr/bin/env node\n");
	assert_none(true);
}

static void claude_of_npm(void **state)
{
	(void)state;
	make(MODULES "@anthropic-ai/claude-code/bin/claude.exe", ELF);
	/* An older form in the same place: the newer one counts. */
	make(MODULES "@anthropic-ai/claude-code/cli.js", "#!/usr/bin/env node\n");
	assert_one(true, "claude", AGENT_PROGRAM,
		   MODULES "@anthropic-ai/claude-code/bin/claude.exe");
}

static void claude_of_npm_as_script(void **state)
{
	(void)state;
	_cleanup_(json_decrefp) json_t *agents = NULL;
	char node[256];

	make(MODULES "@anthropic-ai/claude-code/cli.js", "#!/usr/bin/env node\n");
	make(".nvm/versions/node/v22.1.0/bin/node", ELF);
	assert_one(true, "claude", AGENT_NODE, MODULES "@anthropic-ai/claude-code/cli.js");
	agents = search(true);
	snprintf(node, sizeof(node), "%s/.nvm/versions/node/v22.1.0/bin/node", top);
	assert_string_equal(text_of(agents, 0, "interpreter"), node);
}

static void codex_of_npm(void **state)
{
	(void)state;
	make(MODULES "@openai/codex/bin/codex.js", "#!/usr/bin/env node\n");
	make(MODULES "@openai/codex/node_modules/@openai/codex-linux-x64/" MUSL "bin/codex", ELF);
	assert_one(true, "codex", AGENT_PROGRAM,
		   MODULES "@openai/codex/node_modules/@openai/codex-linux-x64/" MUSL "bin/codex");
}

static void codex_native(void **state)
{
	(void)state;
	make(".codex/packages/standalone/releases/0.171.0-x/bin/codex", ELF);
	make(".codex/packages/standalone/x", "");
	char link[256];
	snprintf(link, sizeof(link), "%s/.codex/packages/standalone/current", top);
	assert_int_equal(symlink("releases/0.171.0-x", link), 0);
	assert_one(true, "codex", AGENT_PROGRAM, ".codex/packages/standalone/current/bin/codex");
}

static void of_the_system(void **state)
{
	(void)state;
	make("usr/lib/node_modules/@github/copilot/node_modules/@github/copilot-linux-x64/copilot",
	     ELF);
	assert_one(
		false, "copilot", AGENT_PROGRAM,
		"usr/lib/node_modules/@github/copilot/node_modules/@github/copilot-linux-x64/copilot");
}

static void gemini(void **state)
{
	(void)state;
	make(MODULES "@google/gemini-cli/bundle/gemini.js", "#!/usr/bin/env node\n");
	make(".nvm/versions/node/v22.1.0/bin/node", ELF);
	assert_one(true, "gemini", AGENT_NODE, MODULES "@google/gemini-cli/bundle/gemini.js");
}

static void cursor(void **state)
{
	(void)state;
	make(".local/share/cursor-agent/versions/2026.10.1-a/node", ELF);
	make(".local/share/cursor-agent/versions/2026.10.1-a/cursor-agent",
	     "#!/usr/bin/env bash\n");
	assert_one(true, "cursor", AGENT_PROGRAM,
		   ".local/share/cursor-agent/versions/2026.10.1-a/node");
}

static void openhands(void **state)
{
	(void)state;
	_cleanup_(json_decrefp) json_t *agents = NULL;

	make(".local/share/uv/tools/openhands/pyvenv.cfg", "");
	make(".local/share/uv/tools/openhands/bin/openhands",
	     "#!/home/a/.local/share/uv/tools/openhands/bin/python\n");
	assert_one(true, "openhands", AGENT_PYTHON,
		   ".local/share/uv/tools/openhands/bin/openhands");
	agents = search(true);
	assert_string_equal(text_of(agents, 0, "interpreter"),
			    "/home/a/.local/share/uv/tools/openhands/bin/python");
}

/* Its three commands have one entry. */
static void jupyter(void **state)
{
	(void)state;
	make("notes/.venv/pyvenv.cfg", "");
	make("notes/.venv/bin/jupyter-server", "#!/home/a/notes/.venv/bin/python3.12\n");
	make("notes/.venv/bin/jupyter-lab", "#!/home/a/notes/.venv/bin/python3.12\n");
	assert_one(true, "jupyter", AGENT_PYTHON, "notes/.venv/bin/jupyter-server");
}

static void autogen(void **state)
{
	(void)state;
	_cleanup_(json_decrefp) json_t *agents = NULL;

	make("agent/venv/pyvenv.cfg", "");
	make("agent/venv/lib/python3.12/site-packages/autogen_agentchat/__init__.py", "");
	make("agent/other.py", "# import autogenerated things, from nothing\nimport os\n");
	assert_one(true, "autogen", AGENT_LIBRARY,
		   "agent/venv/lib/python3.12/site-packages/autogen_agentchat/__init__.py");
	make("agent/team.py", "import os\nfrom autogen_agentchat.agents import AssistantAgent\n");
	assert_one(true, "autogen", AGENT_LIBRARY, "agent/team.py");
	agents = search(true);
	assert_string_equal(text_of(agents, 0, "script"), "team.py");
}

static void runtimes(void **state)
{
	(void)state;
	make("usr/bin/crun", ELF);
	assert_one(false, "podman", AGENT_RUNTIME, "usr/bin/crun");
}

/* A link out of the home directory leads nowhere, whatever is there. */
static void not_out_of_the_home(void **state)
{
	(void)state;
	char outside[256], link[256], command[700];

	snprintf(outside, sizeof(outside), "%s-outside", top);
	snprintf(link, sizeof(link), "%s/.npm-global", top);
	make("x/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", ELF);
	snprintf(command, sizeof(command), "mv %s/x %s", top, outside);
	assert_int_equal(system(command), 0);
	assert_int_equal(symlink(outside, link), 0);
	assert_none(true);
	/* The same within it is followed. */
	assert_int_equal(unlink(link), 0);
	make("y/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", ELF);
	assert_int_equal(symlink("y", link), 0);
	assert_one(true, "claude", AGENT_PROGRAM,
		   ".npm-global/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe");
}

/* A FIFO of that name does not hold the search up. */
static void fifo_is_no_program(void **state)
{
	(void)state;
	char path[256];

	make(".local/share/claude/versions/x", "");
	snprintf(path, sizeof(path), "%s/.local/share/claude/versions/2", top);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_none(true);
}

static void bounded(void **state)
{
	(void)state;
	_cleanup_(json_decrefp) json_t *agents = NULL;
	char name[32];
	int r;

	make(".local/share/claude/versions/2.1.197", ELF);
	for (unsigned int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "d%u/x", i);
		make(name, "");
	}
	agents = search_with(true, 40, &r);
	assert_int_equal(r, -ENOSPC);
	/* The agents found by then are reported. */
	assert_int_equal(json_array_size(agents), 1);
}

/* An entry has room for 64 bytes from the first `*` on, and its patterns name a policy. */
static void table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < agent_form_count; i++) {
		const struct agent_form *form = &agent_forms[i];
		const char *star = strchr(form->path, '*');

		assert_non_null(form->agent);
		assert_non_null(form->title);
		assert_non_null(form->policy);
		assert_true(form->path[0] != '/');
		assert_int_equal(form->process == AGENT_NODE || form->process == AGENT_PYTHON,
				 form->argument != NULL);
		assert_true(!form->versions || (star && strlen(star) <= 64));
		/* `children: {except}` takes no pattern. */
		assert_false(form->versions && form->again);
		if (form->process == AGENT_RUNTIME)
			assert_int_equal(form->place, AGENT_IN_SYSTEM);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(nothing_in_an_empty_home),
		CASE(claude_native),
		CASE(no_program_is_none),
		CASE(claude_of_npm),
		CASE(claude_of_npm_as_script),
		CASE(codex_of_npm),
		CASE(codex_native),
		CASE(of_the_system),
		CASE(gemini),
		CASE(cursor),
		CASE(openhands),
		CASE(jupyter),
		CASE(autogen),
		CASE(runtimes),
		CASE(not_out_of_the_home),
		CASE(fifo_is_no_program),
		CASE(bounded),
		cmocka_unit_test(table_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
