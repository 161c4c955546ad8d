/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt/source_agent.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/proc.h"

#define ENVIRONMENT_MAX (8u << 20)
#define AGENT_MAX	255u

static char *read_of(pid_t pid, const char *file, size_t *ret_size)
{
	char *text;

	return proc_read(pid, file, ENVIRONMENT_MAX, &text, ret_size) < 0 ? NULL : text;
}

char *source_agent_variable(pid_t executor, const char *name)
{
	size_t size, length = strlen(name);
	_cleanup_(freep) char *text = read_of(executor, "environ", &size);

	for (const char *at = text; text && at < text + size; at += strlen(at) + 1)
		if (strncmp(at, name, length) == 0 && at[length] == '=' && at[length + 1])
			return strndup(at + length + 1, AGENT_MAX);
	return NULL;
}

char *source_agent_cgroup(pid_t executor)
{
	size_t size;
	_cleanup_(freep) char *text = read_of(executor, "cgroup", &size);
	char *line = text ? strstr(text, "0::") : NULL;
	const char *name;

	if (!line)
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	name = strrchr(line, '/');
	return name && name[1] ? strndup(name + 1, AGENT_MAX) : NULL;
}
