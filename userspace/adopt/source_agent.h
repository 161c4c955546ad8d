/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which agent an executor works for, and on which trace and conversation, as its own process
 * tells: for the record, nothing depends on it.
 */
#ifndef CORDON_ADOPT_SOURCE_AGENT_H
#define CORDON_ADOPT_SOURCE_AGENT_H

#include <sys/types.h>

/*
 * The value of a variable that a process was started with. NULL: it has none, or an empty one, or
 * is gone. Caller frees.
 */
char *process_variable(pid_t process, const char *name);

/*
 * The value of a variable that the executor was started with. NULL: it has none, or is gone. Caller
 * frees.
 */
char *source_agent_variable(pid_t executor, const char *name);

/*
 * The last component of the executor's cgroup, which service managers name. NULL: as above, or the
 * root.
 */
char *source_agent_cgroup(pid_t executor);

/*
 * What TRACEPARENT and BAGGAGE in a process's environment say of the trace and the conversation it
 * acts for, as trace_context.h has it; where that process says nothing, what `otherwise` says.
 * NULL: neither does. Caller frees.
 */
void source_agent_trace(pid_t process, pid_t otherwise, char **ret_traceparent,
			char **ret_conversation);

#endif
