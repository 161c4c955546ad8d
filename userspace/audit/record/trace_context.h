/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller says of the trace and the conversation that it acts for, by the environment
 * variables that OpenTelemetry has for it: TRACEPARENT, of W3C Trace Context, and BAGGAGE.
 */
#ifndef CORDON_AUDIT_TRACE_CONTEXT_H
#define CORDON_AUDIT_TRACE_CONTEXT_H

#include <stdbool.h>

#define TRACE_ID_SIZE	  33u /* 32 lower-case hexadecimal digits and a NUL */
#define TRACE_SPAN_SIZE	  17u
#define CONVERSATION_SIZE 256u

struct trace_context {
	char trace[TRACE_ID_SIZE];
	char span[TRACE_SPAN_SIZE];
};

/* False: it is none, as the specification has it. */
bool trace_context_parse(const char *traceparent, struct trace_context *ret_context);

/* The value of gen_ai.conversation.id in a BAGGAGE. False: it has none that is a text. */
bool trace_context_conversation(const char *baggage, char ret_id[CONVERSATION_SIZE]);

#endif
