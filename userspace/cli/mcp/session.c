/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of the Model Context Protocol: which message is answered with what. */
#include "cli/mcp/session.h"

#include <string.h>

#include "base/cleanup.h"
#include "cli/mcp/rpc.h"

static const char instructions[] =
	"run executes a command under a policy that the kernel enforces. What is denied stays denied, "
	"whatever the command does: read why, go without it, or propose the rule that is missing and say "
	"what it is needed for. A person decides; nothing here approves.";

static json_t *initialize(struct mcp_session *session, const struct rpc_message *m)
{
	const json_t *version = json_object_get(m->params, "protocolVersion");

	if (!json_is_string(version))
		return rpc_refusal(m->id, RPC_INVALID_PARAMS, "protocolVersion is a string");
	if (session->initialized)
		return rpc_refusal(m->id, RPC_INVALID_REQUEST,
				   "the session is initialized already");
	session->initialized = true;
	/* Whatever was asked for: a client that does not speak this one leaves. */
	return rpc_result(m->id, json_pack("{s:s,s:{s:{}},s:{s:s,s:s},s:s}", "protocolVersion",
					   MCP_VERSION, "capabilities", "tools", "serverInfo",
					   "name", "cordon", "version", CORDON_VERSION,
					   "instructions", instructions));
}

static json_t *ping(struct mcp_session *session, const struct rpc_message *m)
{
	(void)session;
	return rpc_result(m->id, json_object());
}

static json_t *list_tools(struct mcp_session *session, const struct rpc_message *m)
{
	json_t *list = session->tools->list(session->tools->context);

	return rpc_result(m->id, json_pack("{s:o}", "tools", list));
}

static json_t *call_tool(struct mcp_session *session, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	json_t *arguments = json_object_get(m->params, "arguments");

	if (!name)
		return rpc_refusal(m->id, RPC_INVALID_PARAMS, "name is the name of a tool");
	if (arguments && !json_is_object(arguments))
		return rpc_refusal(m->id, RPC_INVALID_PARAMS, "arguments is an object");
	return session->tools->call(session->tools->context, m->id, name, arguments);
}

static const struct {
	const char *name;
	json_t *(*answer)(struct mcp_session *session, const struct rpc_message *message);
	bool any_time; /* before the session is initialized, too */
} methods[] = {
	{"initialize", initialize, true},
	{"ping", ping, true},
	{"tools/list", list_tools, false},
	{"tools/call", call_tool, false},
};

static json_t *answer_request(struct mcp_session *session, const struct rpc_message *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (strcmp(methods[i].name, m->method) != 0)
			continue;
		if (!methods[i].any_time && !session->initialized)
			return rpc_refusal(m->id, RPC_INVALID_REQUEST, "initialize comes first");
		return methods[i].answer(session, m);
	}
	return rpc_refusal(m->id, RPC_METHOD_NOT_FOUND,
			   "the methods are initialize, ping, tools/list and tools/call");
}

static void take_notification(struct mcp_session *session, const struct rpc_message *m)
{
	const json_t *id = json_object_get(m->params, "requestId");

	if (strcmp(m->method, "notifications/cancelled") == 0 && id)
		session->tools->cancel(session->tools->context, id);
}

json_t *mcp_session_take(struct mcp_session *session, const char *text, size_t size)
{
	struct rpc_message message;
	json_t *answer = NULL;

	if (rpc_read(text, size, &message, &answer) < 0)
		return answer;
	if (message.kind == RPC_REQUEST)
		answer = answer_request(session, &message);
	else if (message.kind == RPC_NOTIFICATION)
		take_notification(session, &message);
	rpc_message_release(&message);
	return answer;
}

json_t *mcp_session_too_long(void)
{
	return rpc_refusal(NULL, RPC_INVALID_REQUEST, "a message has at most 1 MiB");
}
