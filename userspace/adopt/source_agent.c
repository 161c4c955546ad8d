/* SPDX-License-Identifier: Apache-2.0 */
/* Tells from a process's variables and cgroup which agent an executor works for. */
#include "adopt/source_agent.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/proc.h"

#define ENVIRONMENT_MAX (8u << 20)
#define AGENT_MAX	255u

char *source_agent_variable(pid_t executor, const char *name)
{
	_cleanup_(freep) char *text = NULL;
	size_t size, length = strlen(name);

	if (proc_read(executor, "environ", ENVIRONMENT_MAX, &text, &size) < 0)
		return NULL;
	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=' && at[length + 1])
			return strndup(at + length + 1, AGENT_MAX);
	return NULL;
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
