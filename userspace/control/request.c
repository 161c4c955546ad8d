/* SPDX-License-Identifier: Apache-2.0 */
/* Parses requests from JSON with strict checks. */
#include "control/request.h"

#include <string.h>

#include "base/uuid.h"
#include "control/protocol.h"
#include "control/request_fields.h"

static const char *const op_names[REQUEST_OP_COUNT] = {
	[REQUEST_HELLO] = "hello",   [REQUEST_PREPARE] = "prepare",
	[REQUEST_LABEL] = "label",   [REQUEST_ENDED] = "ended",
	[REQUEST_ABORT] = "abort",   [REQUEST_STATUS] = "status",
	[REQUEST_PS] = "ps",	     [REQUEST_KILL] = "kill",
	[REQUEST_STOP] = "stop",     [REQUEST_APPLY] = "apply",
	[REQUEST_DECIDE] = "decide", [REQUEST_APPROVALS] = "approvals",
	[REQUEST_RELOAD] = "reload", [REQUEST_ADOPT] = "adopt",
	[REQUEST_WHO] = "who",	     [REQUEST_PROPOSE] = "propose",
};

int request_op(json_t *message, enum request_op *ret_op, struct failure *failure)
{
	const char *name = json_string_value(json_object_get(message, "op"));

	if (!name)
		return failure_set(failure, EINVAL, "a request needs a text \"op\"");
	for (int op = 0; op < REQUEST_OP_COUNT; op++) {
		if (strcmp(op_names[op], name) == 0) {
			*ret_op = (enum request_op)op;
			return 0;
		}
	}
	return failure_set(failure, EINVAL, "unknown op \"%.64s\"", name);
}

const char *request_op_name(enum request_op op)
{
	return op_names[op];
}

int label_request_parse(json_t *message, struct label_request *ret_request, struct failure *failure)
{
	_cleanup_(protocol_strings_freep) char **kept = NULL, **removed = NULL;
	json_t *kept_json, *removed_json;
	json_error_t error;
	const char *op;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:o,s:o!}", "op", &op, "environment_kept",
			   &kept_json, "environment_removed", &removed_json) < 0)
		return request_malformed(failure, &error);
	r = request_strings("environment_kept", kept_json, false, &kept, failure);
	if (r == 0)
		r = request_strings("environment_removed", removed_json, false, &removed, failure);
	if (r < 0)
		return r;
	*ret_request = (struct label_request){.kept = TAKE_PTR(kept), .removed = TAKE_PTR(removed)};
	return 0;
}

void label_request_release(struct label_request *request)
{
	protocol_strings_free(request->kept);
	protocol_strings_free(request->removed);
	*request = (struct label_request){};
}

static int parse_ended_code(json_t *code, struct ended_request *request, struct failure *failure)
{
	json_error_t error;
	const char *digest = NULL;
	json_int_t length = 0;
	int r;

	if (json_is_null(code))
		return 0;
	if (json_unpack_ex(code, &error, 0, "{s:s,s:I!}", "sha256", &digest, "length", &length) < 0)
		return request_malformed(failure, &error);
	r = request_count("length", length, INT64_MAX, failure);
	if (r == 0)
		r = request_digest("sha256", digest, request->code_digest, failure);
	request->have_code = r == 0;
	request->code_length = (uint64_t)length;
	return r;
}

int ended_request_parse(json_t *message, struct ended_request *ret_request, struct failure *failure)
{
	struct ended_request request = {};
	json_int_t user = 0, system = 0;
	const char *op, *text = NULL;
	unsigned char id[16];
	json_error_t error;
	json_t *code;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s?s,s:i,s:o,s:I,s:I!}", "op", &op, "id", &text,
			   "status", &request.status, "code", &code, "user_nsec", &user,
			   "system_nsec", &system) < 0)
		return request_malformed(failure, &error);
	if (text && uuid_parse(text, id) < 0)
		return failure_set(failure, EINVAL, "\"%.64s\" is not an execution id", text);
	if (text)
		uuid_format(id, request.id);
	(void)((r = parse_ended_code(code, &request, failure)) < 0 ||
	       (r = request_count("user_nsec", user, INT64_MAX, failure)) < 0 ||
	       (r = request_count("system_nsec", system, INT64_MAX, failure)) < 0);
	if (r < 0)
		return r;
	request.user_nsec = (uint64_t)user;
	request.system_nsec = (uint64_t)system;
	*ret_request = request;
	return 0;
}

int abort_request_parse(json_t *message, struct abort_request *ret_request, struct failure *failure)
{
	struct abort_request request;
	const char *op, *name, *text;
	json_error_t error;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:s,s:s!}", "op", &op, "error", &name,
			   "message", &text) < 0)
		return request_malformed(failure, &error);
	request.error = protocol_errno(name);
	snprintf(request.message, sizeof(request.message), "%s", text);
	*ret_request = request;
	return 0;
}

int ps_request_parse(json_t *message, uint32_t *ret_from, struct failure *failure)
{
	json_error_t error;
	json_int_t from = 0;
	const char *op;

	if (json_unpack_ex(message, &error, 0, "{s:s,s?I!}", "op", &op, "from", &from) < 0)
		return request_malformed(failure, &error);
	if (from < 0 || from >= (json_int_t)CORDON_MAX_EXECUTIONS)
		return failure_set(failure, EINVAL, "from: there is no such slot");
	*ret_from = (uint32_t)from;
	return 0;
}

int kill_request_parse(json_t *message, unsigned char ret_id[16], struct failure *failure)
{
	json_error_t error;
	const char *op, *id;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:s!}", "op", &op, "id", &id) < 0)
		return request_malformed(failure, &error);
	if (uuid_parse(id, ret_id) < 0)
		return failure_set(failure, EINVAL, "\"%.64s\" is not an execution id", id);
	return 0;
}

int stop_request_parse(json_t *message, bool *ret_force, struct failure *failure)
{
	json_error_t error;
	const char *op;
	int force;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:b!}", "op", &op, "force", &force) < 0)
		return request_malformed(failure, &error);
	*ret_force = force;
	return 0;
}

static int apply_parse_into(json_t *message, struct apply_request *request, struct failure *failure)
{
	json_t *execution = NULL, *all_of = NULL, *session = NULL, *reason = NULL;
	const char *op, *policy, *id = NULL, *why = NULL;
	unsigned char parsed[16];
	json_error_t error;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:s,s?o,s?o,s?o,s?o!}", "op", &op, "policy",
			   &policy, "execution", &execution, "all_of", &all_of, "session", &session,
			   "reason", &reason) < 0)
		return request_malformed(failure, &error);
	(void)((r = request_copy_policy(policy, &request->policy, failure)) < 0 ||
	       (r = request_text("execution", execution, &id, failure)) < 0 ||
	       (r = request_copy_name("session", session, &request->session, failure)) < 0 ||
	       (r = request_copy_name("all_of", all_of, &request->all_of, failure)) < 0 ||
	       (r = request_text("reason", reason, &why, failure)) < 0);
	if (r < 0)
		return r;
	if (!!id + !!request->all_of + !!request->session != 1)
		return failure_set(
			failure, EINVAL,
			"one of \"execution\", \"all_of\" and \"session\" must be there");
	if (id && uuid_parse(id, parsed) < 0)
		return failure_set(failure, EINVAL, "\"%.64s\" is not an execution id", id);
	if (id)
		uuid_format(parsed, request->execution);
	return request_copy_bounded("reason", why, REQUEST_REASON_MAX, &request->reason, failure);
}

int apply_request_parse(json_t *message, struct apply_request *ret_request, struct failure *failure)
{
	struct apply_request request = {};
	int r = apply_parse_into(message, &request, failure);

	if (r < 0)
		apply_request_release(&request);
	else
		*ret_request = request;
	return r;
}

void apply_request_release(struct apply_request *request)
{
	free(request->policy);
	free(request->all_of);
	free(request->session);
	free(request->reason);
	*request = (struct apply_request){};
}

int adopt_request_parse(json_t *message, struct adopt_request *ret_request, struct failure *failure)
{
	struct adopt_request request = {};
	json_t *executor = NULL;
	json_error_t error;
	json_int_t pid = 0;
	const char *op;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:I,s?o!}", "op", &op, "pid", &pid, "executor",
			   &executor) < 0)
		return request_malformed(failure, &error);
	if (pid < 1 || pid > INT32_MAX)
		return failure_set(failure, EINVAL, "\"pid\" is no process number");
	request.pid = (pid_t)pid;
	r = request_copy_name("executor", executor, &request.executor, failure);
	if (r == 0)
		*ret_request = request;
	return r;
}

void adopt_request_release(struct adopt_request *request)
{
	free(request->executor);
	*request = (struct adopt_request){};
}

int who_request_parse(json_t *message, struct who_request *ret_request, struct failure *failure)
{
	json_int_t pid = 0, cgroup = 0;
	json_error_t error;
	const char *op;

	if (json_unpack_ex(message, &error, 0, "{s:s,s?I,s?I!}", "op", &op, "pid", &pid, "cgroup",
			   &cgroup) < 0)
		return request_malformed(failure, &error);
	if (pid < 0 || pid > INT32_MAX || cgroup < 0 || (pid > 0) == (cgroup > 0))
		return failure_set(failure, EINVAL,
				   "\"pid\" or \"cgroup\" is to be the number of one");
	*ret_request = (struct who_request){.pid = (pid_t)pid, .cgroup = (uint64_t)cgroup};
	return 0;
}

int plain_request_parse(json_t *message, struct failure *failure)
{
	json_error_t error;
	const char *op;

	if (json_unpack_ex(message, &error, 0, "{s:s!}", "op", &op) < 0)
		return request_malformed(failure, &error);
	return 0;
}

int hello_request_parse(json_t *message, struct failure *failure)
{
	json_error_t error;
	const char *op;
	int version;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:i!}", "op", &op, "version", &version) < 0)
		return request_malformed(failure, &error);
	return request_check_version(version, failure);
}
