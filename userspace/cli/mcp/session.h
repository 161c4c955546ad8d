/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's side of the Model Context Protocol: which message is answered with what. Does no
 * input or output.
 */
#ifndef CORDON_CLI_MCP_SESSION_H
#define CORDON_CLI_MCP_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MCP_VERSION "2025-06-18"
/* Bytes of one message of the client's. */
#define MCP_MESSAGE_MAX (1u << 20)

struct mcp_tools {
	/* As tools/list has them: an array, a new reference. */
	json_t *(*list)(void *context);
	/*
	 * Begins a call, whose answer comes later (NULL), or returns the answer to the request of
	 * this id. `arguments`: an object, or NULL.
	 */
	json_t *(*call)(void *context, const json_t *id, const char *name, json_t *arguments);
	/* Ends the call of this id, if there is one: nobody waits for it any more. */
	void (*cancel)(void *context, const json_t *id);
	void *context;
};

struct mcp_session {
	const struct mcp_tools *tools;
	bool initialized;
};

/*
 * What to answer to one message, a new reference; NULL: nothing (or, without memory, nothing can
 * be).
 */
json_t *mcp_session_take(struct mcp_session *session, const char *text, size_t size);

/* What to answer to one of more than MCP_MESSAGE_MAX bytes. */
json_t *mcp_session_too_long(void);

#endif
