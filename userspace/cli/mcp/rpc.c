/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0 without batches: one message a line, from whoever writes to us. */
#include "cli/mcp/rpc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

void rpc_message_release(struct rpc_message *message)
{
	json_decref(message->whole);
	*message = (struct rpc_message){};
}

json_t *rpc_result(const json_t *id, json_t *result)
{
	return json_pack("{s:s,s:o,s:o}", "jsonrpc", "2.0", "id",
			 id ? json_deep_copy(id) : json_null(), "result", result);
}

json_t *rpc_refusal(const json_t *id, enum rpc_error code, const char *text)
{
	return json_pack("{s:s,s:o,s:{s:i,s:s}}", "jsonrpc", "2.0", "id",
			 id ? json_deep_copy(id) : json_null(), "error", "code", (int)code,
			 "message", text);
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

static bool is_version_2(const json_t *whole)
{
	const char *version = json_string_value(json_object_get(whole, "jsonrpc"));

	return version && strcmp(version, "2.0") == 0;
}

/* Why it is no message of JSON-RPC, or NULL: it is one, and `message` is filled. */
static const char *take_apart(struct rpc_message *message, enum rpc_error *ret_code)
{
	const json_t *id = json_object_get(message->whole, "id");

	*ret_code = RPC_INVALID_REQUEST;
	if (json_is_array(message->whole))
		return "batches are not taken: send one message a line";
	if (!json_is_object(message->whole))
		return "a message is an object";
	if (id && !is_id(id))
		return "an id is a string or an integer";
	message->id = id;
	if (!is_version_2(message->whole))
		return "a message has \"jsonrpc\": \"2.0\"";
	message->method = json_string_value(json_object_get(message->whole, "method"));
	message->params = json_object_get(message->whole, "params");
	if (!message->method) {
		message->kind = RPC_RESPONSE;
		return json_object_get(message->whole, "method") ||
				       !(json_object_get(message->whole, "result") ||
					 json_object_get(message->whole, "error"))
			       ? "a message has a method, which is a string"
			       : NULL;
	}
	message->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	*ret_code = RPC_INVALID_PARAMS;
	return message->params && !json_is_object(message->params) ? "params is an object" : NULL;
}

int rpc_read(const char *text, size_t size, struct rpc_message *ret_message, json_t **ret_answer)
{
	struct rpc_message message = {};
	enum rpc_error code = RPC_PARSE_ERROR;
	const char *why;
	json_error_t error;

	message.whole = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	why = message.whole ? take_apart(&message, &code) : "that is no JSON";
	if (!why) {
		*ret_message = message;
		return 0;
	}
	*ret_answer = message.kind == RPC_NOTIFICATION ? NULL : rpc_refusal(message.id, code, why);
	rpc_message_release(&message);
	return -EBADMSG;
}
