/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0 without batches: one message a line, from whoever writes to us. */
#ifndef CORDON_CLI_MCP_RPC_H
#define CORDON_CLI_MCP_RPC_H

#include <jansson.h>
#include <stddef.h>

enum rpc_error {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
};

enum rpc_kind {
	RPC_UNKNOWN,
	RPC_REQUEST,	  /* to be answered */
	RPC_NOTIFICATION, /* not to be answered, whatever it says */
	RPC_RESPONSE,	  /* to a request of ours; we make none */
};

struct rpc_message {
	enum rpc_kind kind;
	json_t *whole;	    /* owns what follows */
	const json_t *id;   /* of a request: a string or an integer */
	const char *method; /* NULL: a response */
	json_t *params;	    /* an object, or NULL: there are none */
};

void rpc_message_release(struct rpc_message *message);

/*
 * 0; -EBADMSG: it is none, and *ret_answer is what to say to that, a new reference (NULL without
 * memory, and for a notification, which nobody answers). Duplicate keys, what is no UTF-8 and NUL
 * in strings are refused.
 */
int rpc_read(const char *text, size_t size, struct rpc_message *ret_message, json_t **ret_answer);

/* New references, or NULL without memory. `result` is taken; `id` is copied, NULL: null. */
json_t *rpc_result(const json_t *id, json_t *result);
json_t *rpc_refusal(const json_t *id, enum rpc_error code, const char *text);

#endif
