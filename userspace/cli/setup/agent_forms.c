/* SPDX-License-Identifier: Apache-2.0 */
/* The agents that `cordon setup` finds, as a table. */
#include "cli/setup/agent_forms.h"

#include "base/cleanup.h"

#define CLAUDE                                                                                     \
	.agent = "claude", .title = "Claude Code", .policy = "claude-code", .itself = "claude-agent"
#define CODEX                                                                                      \
	.agent = "codex", .title = "Codex", .policy = "codex", .itself = "codex-agent",            \
	.again = true
#define GEMINI .agent = "gemini", .title = "Gemini CLI", .policy = "claude-code", .again = true
#define COPILOT                                                                                    \
	.agent = "copilot", .title = "GitHub Copilot CLI", .policy = "claude-code", .again = true
#define JUPYTER                                                                                    \
	.agent = "jupyter", .title = "Jupyter", .policy = "jupyter-kernel", .session = true,       \
	.argument = "*bin/jupyter-*"
#define DOCKER                                                                                     \
	.agent = "docker", .title = "Docker", .policy = "container-code",                          \
	.process = AGENT_RUNTIME, .place = AGENT_IN_SYSTEM, .again = true
#define AUTOGEN .agent = "autogen", .title = "AutoGen", .policy = "autogen-local"

/*
 * In one place, only the first row that is found counts for each agent: the later ones are older
 * forms of the same package. docs/executors.md describes the programs that each agent starts.
 */
const struct agent_form agent_forms[] = {
	{CLAUDE, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME, .versions = true,
	 .path = ".local/share/claude/versions/*"},
	{CLAUDE, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@anthropic-ai/claude-code/bin/claude.exe"},
	{CLAUDE, .process = AGENT_NODE, .place = AGENT_IN_MODULES, .argument = "*bin/claude",
	 .path = "@anthropic-ai/claude-code/cli.js"},

	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@openai/codex/node_modules/@openai/codex-linux-*/vendor/*/bin/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@openai/codex-linux-*/vendor/*/bin/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@openai/codex/vendor/*-linux-*/codex/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME,
	 .path = ".codex/packages/standalone/current/bin/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME,
	 .path = ".codex/packages/standalone/current/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME,
	 .path = ".codex/packages/standalone/releases/*/bin/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME,
	 .path = ".codex/packages/standalone/releases/*/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_HOME, .path = ".local/bin/codex"},
	{CODEX, .process = AGENT_PROGRAM, .place = AGENT_IN_SYSTEM, .path = "usr/local/bin/codex"},

	{GEMINI, .process = AGENT_NODE, .place = AGENT_IN_MODULES, .argument = "*bin/gemini",
	 .path = "@google/gemini-cli/bundle/gemini.js"},
	{GEMINI, .process = AGENT_NODE, .place = AGENT_IN_MODULES, .argument = "*bin/gemini",
	 .path = "@google/gemini-cli/dist/index.js"},

	{COPILOT, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@github/copilot/node_modules/@github/copilot-linux*/copilot"},
	{COPILOT, .process = AGENT_PROGRAM, .place = AGENT_IN_MODULES,
	 .path = "@github/copilot-linux*/copilot"},
	{COPILOT, .process = AGENT_NODE, .place = AGENT_IN_MODULES, .argument = "*bin/copilot",
	 .path = "@github/copilot/index.js"},

	{.agent = "cursor",
	 .title = "Cursor CLI",
	 .policy = "claude-code",
	 .process = AGENT_PROGRAM,
	 .place = AGENT_IN_HOME,
	 .versions = true,
	 .path = ".local/share/cursor-agent/versions/*/node"},

	{.agent = "openhands",
	 .title = "OpenHands",
	 .policy = "claude-code",
	 .process = AGENT_PYTHON,
	 .place = AGENT_IN_ENVIRONMENT,
	 .argument = "*bin/openhands",
	 .path = "bin/openhands"},

	{JUPYTER, .process = AGENT_PYTHON, .place = AGENT_IN_ENVIRONMENT,
	 .path = "bin/jupyter-server"},
	{JUPYTER, .process = AGENT_PYTHON, .place = AGENT_IN_ENVIRONMENT,
	 .path = "bin/jupyter-lab"},
	{JUPYTER, .process = AGENT_PYTHON, .place = AGENT_IN_ENVIRONMENT,
	 .path = "bin/jupyter-notebook"},

	{AUTOGEN, .process = AGENT_LIBRARY, .place = AGENT_IN_ENVIRONMENT,
	 .path = "lib/python3*/site-packages/autogen_agentchat/__init__.py"},
	{AUTOGEN, .process = AGENT_LIBRARY, .place = AGENT_IN_ENVIRONMENT,
	 .path = "lib/python3*/site-packages/autogen_core/__init__.py"},
	{AUTOGEN, .process = AGENT_LIBRARY, .place = AGENT_IN_ENVIRONMENT,
	 .path = "lib/python3*/site-packages/autogen/__init__.py"},

	{DOCKER, .path = "usr/sbin/runc", .other = "/usr/sbin/dockerd"},
	{DOCKER, .path = "usr/bin/runc", .other = "/usr/bin/dockerd"},
	{.agent = "podman",
	 .title = "podman",
	 .policy = "container-code",
	 .process = AGENT_RUNTIME,
	 .place = AGENT_IN_SYSTEM,
	 .path = "usr/bin/crun"},
};
const size_t agent_form_count = ARRAY_SIZE(agent_forms);

/* npm's own prefix, prefixes that people set, and managers of Node.js versions. */
const char *const agent_home_modules[] = {
	".claude/local/node_modules",
	".npm-global/lib/node_modules",
	".local/lib/node_modules",
	".nvm/versions/node/*/lib/node_modules",
	".volta/tools/image/packages/*/lib/node_modules",
	".volta/tools/image/packages/*/*/lib/node_modules",
	".local/share/fnm/node-versions/*/installation/lib/node_modules",
	".local/share/mise/installs/node/*/lib/node_modules",
	".asdf/installs/nodejs/*/lib/node_modules",
	".local/share/pnpm/global/*/node_modules",
	".bun/install/global/node_modules",
	NULL,
};

const char *const agent_system_modules[] = {
	"usr/lib/node_modules",
	"usr/local/lib/node_modules",
	"opt/*/lib/node_modules",
	NULL,
};

const char *const agent_home_environments[] = {
	".local/share/uv/tools/*",
	".local/share/pipx/venvs/*",
	".local/pipx/venvs/*",
	".virtualenvs/*",
	".venv",
	"*/.venv",
	"*/*/.venv",
	"*",
	"*/*",
	"*/*/*",
	".local",
	NULL,
};

const char *const agent_system_environments[] = {
	"opt/*", "opt/*/*", "srv/*", "srv/*/*", "usr/local", "usr", NULL,
};
