/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which agent, trace and conversation an executor works for, from its process. Only for
 * records: no decision depends on it.
 */
#ifndef CORDON_ADOPT_SOURCE_AGENT_H
#define CORDON_ADOPT_SOURCE_AGENT_H

#include <sys/types.h>

/*
 * Returns the value of a variable that a process was started with. NULL if it is missing or empty,
 * or if the process exited. The caller frees it.
 */
char *process_variable(pid_t process, const char *name);

/* As process_variable(), truncated to the size of an agent's name. */
char *source_agent_variable(pid_t executor, const char *name);

/*
 * Returns the last component of the executor's cgroup, which service managers name. NULL as above,
 * or for the root cgroup.
 */
char *source_agent_cgroup(pid_t executor);

/*
 * Reads trace and conversation from TRACEPARENT and BAGGAGE in a process's environment, see
 * trace_context.h. A missing value is read from `otherwise`. NULL: both lack it. The caller frees
 * the results.
 */
void source_agent_trace(pid_t process, pid_t otherwise, char **ret_traceparent,
			char **ret_conversation);

#endif
