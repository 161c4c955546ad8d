/* SPDX-License-Identifier: Apache-2.0 */
/* Determines an executor's agent from its process's variables and cgroup. */
#include "adopt/source_agent.h"

#include <string.h>

#include "audit/record/trace_context.h"
#include "base/cleanup.h"
#include "base/proc.h"

#define ENVIRONMENT_MAX (8u << 20)
#define AGENT_MAX	255u

/* Returns the value of `name` in NUL-terminated variables, or NULL if it is missing or empty. */
static const char *value_of(const char *variables, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = variables; at < variables + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=' && at[length + 1])
			return at + length + 1;
	return NULL;
}

char *process_variable(pid_t process, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	const char *value;
	size_t size;

	if (proc_read(process, "environ", ENVIRONMENT_MAX, &text, &size) < 0)
		return NULL;
	value = value_of(text, size, name);
	return value ? strdup(value) : NULL;
}

char *source_agent_variable(pid_t executor, const char *name)
{
	char *value = process_variable(executor, name);

	if (value && strlen(value) > AGENT_MAX)
		value[AGENT_MAX] = '\0';
	return value;
}

static void read_trace(pid_t process, char **traceparent, char **conversation)
{
	_cleanup_(freep) char *text = NULL;
	char id[CONVERSATION_SIZE];
	struct trace_context context;
	const char *value;
	size_t size;

	if (proc_read(process, "environ", ENVIRONMENT_MAX, &text, &size) < 0)
		return;
	value = value_of(text, size, "TRACEPARENT");
	if (!*traceparent && value && trace_context_parse(value, &context))
		*traceparent = strdup(value);
	value = value_of(text, size, "BAGGAGE");
	if (!*conversation && value && trace_context_conversation(value, id))
		*conversation = strdup(id);
}

void source_agent_trace(pid_t process, pid_t otherwise, char **ret_traceparent,
			char **ret_conversation)
{
	*ret_traceparent = *ret_conversation = NULL;
	read_trace(process, ret_traceparent, ret_conversation);
	if (!*ret_traceparent || !*ret_conversation)
		read_trace(otherwise, ret_traceparent, ret_conversation);
}

char *source_agent_cgroup(pid_t executor)
{
	_cleanup_(freep) char *path = NULL;
	const char *name;

	if (proc_cgroup(executor, &path) < 0)
		return NULL;
	name = strrchr(path, '/');
	return name[1] ? strndup(name + 1, AGENT_MAX) : NULL;
}
