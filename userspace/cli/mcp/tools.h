/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools: what a model may ask for, the command of cordon that answers it, and the answer in
 * words.
 */
#ifndef CORDON_CLI_MCP_TOOLS_H
#define CORDON_CLI_MCP_TOOLS_H

#include <jansson.h>

#include "base/failure.h"
#include "cli/mcp/job.h"

#define TOOL_POLICIES_MAX 32
/* Refusals that an answer lists; further ones are counted. */
#define TOOL_REFUSALS_MAX 20

/* What the person who set the server up chose: a model can narrow it, not widen it. */
struct tool_settings {
	const char *policies[TOOL_POLICIES_MAX]; /* the first one is used where none is asked for */
	size_t policy_count; /* 0: what `cordon run` takes by itself, and no other */
	const char *workdir, *session, *agent, *log; /* NULL: the default of `cordon run` */
};

/* A tool's name, its argv for a call, and what to make of the outcome. */
struct tool {
	const char *name;
	size_t limit; /* see job_start() */
	/*
	 * Adds the command and its arguments to `argv`; returns what is wrong with the arguments,
	 * or NULL.
	 */
	const char *(*words)(const struct tool_settings *settings, json_t *arguments, json_t *argv);
	/* The result of tools/call, a new reference; NULL: no memory. */
	json_t *(*result)(const struct job *job);
};

/* As tools/list has them: a new reference, or NULL without memory. */
json_t *tools_describe(const struct tool_settings *settings);

/* NULL: there is none of this name. */
const struct tool *tool_find(const char *name);

/* The result of a call that failed, for the model to read. New reference. */
json_t *tool_failed(const char *text);

#endif
