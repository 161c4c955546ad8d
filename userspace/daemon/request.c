/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/request.h"

#include <limits.h>
#include <string.h>

#include "base/hex.h"
#include "base/uuid.h"
#include "daemon/protocol.h"

static const char *const op_names[REQUEST_OP_COUNT] = {
	[REQUEST_HELLO] = "hello",   [REQUEST_PREPARE] = "prepare",
	[REQUEST_LABEL] = "label",   [REQUEST_ENDED] = "ended",
	[REQUEST_ABORT] = "abort",   [REQUEST_STATUS] = "status",
	[REQUEST_PS] = "ps",	     [REQUEST_KILL] = "kill",
	[REQUEST_STOP] = "stop",     [REQUEST_APPLY] = "apply",
	[REQUEST_DECIDE] = "decide", [REQUEST_APPROVALS] = "approvals",
	[REQUEST_RELOAD] = "reload",
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

/* What jansson found wrong, in the protocol's words. */
static int malformed(struct failure *failure, const json_error_t *error)
{
	return failure_set(failure, EINVAL, "malformed request: %.160s", error->text);
}

static int check_version(int version, struct failure *failure)
{
	if (version == PROTOCOL_VERSION)
		return 0;
	return failure_set(failure, EPROTONOSUPPORT,
			   "the daemon speaks version %d of the protocol, the client version %d; "
			   "use one build for both",
			   PROTOCOL_VERSION, version);
}

/* --- texts -------------------------------------------------------------------------------- */

static int copy(const char *text, char **ret_copy, struct failure *failure)
{
	*ret_copy = text ? strdup(text) : NULL;
	if (text && !*ret_copy)
		return failure_set(failure, ENOMEM, "%m");
	return 0;
}

/* An optional text: null and an absent key say the same. */
static int text_or_null(const char *key, json_t *value, const char **ret_text,
			struct failure *failure)
{
	if (value && !json_is_null(value) && !json_is_string(value))
		return failure_set(failure, EINVAL, "\"%s\" must be a text or null", key);
	*ret_text = json_string_value(value);
	return 0;
}

static int copy_name(const char *key, json_t *value, char **ret_copy, struct failure *failure)
{
	const char *text = NULL;
	int r = text_or_null(key, value, &text, failure);

	if (r < 0)
		return r;
	if (text && (*text == '\0' || strlen(text) > REQUEST_NAME_MAX))
		return failure_set(failure, EINVAL, "\"%s\" must have 1 to %d bytes", key,
				   REQUEST_NAME_MAX);
	return copy(text, ret_copy, failure);
}

static int copy_path(const char *key, const char *text, char **ret_copy, struct failure *failure)
{
	if (text && (text[0] != '/' || strlen(text) >= PATH_MAX))
		return failure_set(failure, EINVAL,
				   "\"%s\" must be an absolute path of less than %d bytes", key,
				   PATH_MAX);
	return copy(text, ret_copy, failure);
}

static int copy_optional_path(const char *key, json_t *value, char **ret_copy,
			      struct failure *failure)
{
	const char *text = NULL;
	int r = text_or_null(key, value, &text, failure);

	return r < 0 ? r : copy_path(key, text, ret_copy, failure);
}

static int parse_digest(const char *key, const char *text, unsigned char ret_digest[32],
			struct failure *failure)
{
	if (hex_decode(text, ret_digest, 32) < 0)
		return failure_set(failure, EINVAL, "\"%s\" must be a SHA-256 digest", key);
	return 0;
}

static int parse_count(const char *key, json_int_t value, json_int_t limit, struct failure *failure)
{
	if (value < 0 || value > limit)
		return failure_set(failure, EINVAL, "\"%s\" must be from 0 to %lld", key,
				   (long long)limit);
	return 0;
}

static int parse_strings(const char *key, json_t *array, bool nulls, char ***ret_strings,
			 struct failure *failure)
{
	int r = protocol_strings_of(array, nulls, ret_strings);

	if (r < 0)
		return failure_set(failure, r,
				   r == -EINVAL ? "\"%s\" must be an array of texts" : "%s: %m",
				   key);
	return 0;
}

/* --- prepare ------------------------------------------------------------------------------ */

static int parse_code(json_t *object, struct audit_code *code, struct failure *failure)
{
	const char *source = NULL, *path = NULL, *digest = NULL;
	json_t *path_json = NULL, *digest_json = NULL;
	json_error_t error;
	json_int_t length = 0;
	int r;

	if (json_unpack_ex(object, &error, 0, "{s:s,s?o,s?o,s:I!}", "source", &source, "path",
			   &path_json, "sha256", &digest_json, "length", &length) < 0)
		return malformed(failure, &error);
	r = text_or_null("path", path_json, &path, failure);
	if (r == 0)
		r = text_or_null("sha256", digest_json, &digest, failure);
	if (r < 0)
		return r;
	if (protocol_code_source(source, &code->source) < 0)
		return failure_set(failure, EINVAL, "unknown code source \"%.64s\"", source);
	if ((code->source == AUDIT_CODE_FILE) != (path != NULL))
		return failure_set(failure, EINVAL,
				   "code has a path if, and only if, it is a file");
	r = copy_path("path", path, &code->path, failure);
	if (r == 0)
		r = parse_count("length", length, INT64_MAX, failure);
	if (r == 0 && digest)
		r = parse_digest("sha256", digest, code->digest, failure);
	code->have_digest = digest != NULL;
	code->length = (uint64_t)length;
	return r;
}

static int parse_binds(json_t *array, struct prepare_request *request, struct failure *failure)
{
	int r = parse_strings("binds", array, false, &request->binds, failure);

	if (r < 0)
		return r;
	request->bind_count = json_array_size(array);
	if (request->bind_count > PROTOCOL_MAX_FDS - 2)
		return failure_set(failure, EINVAL, "at most %u directories can be bound",
				   PROTOCOL_MAX_FDS - 2);
	for (size_t i = 0; i < request->bind_count; i++) {
		const char *name = request->binds[i];

		if (*name == '\0' || strlen(name) > REQUEST_NAME_MAX)
			return failure_set(failure, EINVAL, "\"binds\" must name directories");
		if (strcmp(name, "workdir") == 0 || strcmp(name, "tmp") == 0 ||
		    strcmp(name, "home") == 0)
			return failure_set(failure, EINVAL, "${%s} cannot be bound by name", name);
		for (size_t j = 0; j < i; j++)
			if (strcmp(request->binds[j], name) == 0)
				return failure_set(failure, EINVAL, "${%s} is bound twice", name);
	}
	return 0;
}

static int parse_arguments(json_t *array, struct audit_execution *execution,
			   struct failure *failure)
{
	if (json_is_null(array))
		return 0;
	if (json_array_size(array) != execution->argument_count)
		return failure_set(failure, EINVAL,
				   "\"arguments\" must be null or have argument_count entries");
	return parse_strings("arguments", array, true, &execution->arguments, failure);
}

static int parse_policy(const char *policy, char **ret_policy, struct failure *failure)
{
	if (*policy == '\0' || strlen(policy) >= PATH_MAX ||
	    (strchr(policy, '/') && policy[0] != '/'))
		return failure_set(failure, EINVAL,
				   "\"policy\" must be a name or an absolute path");
	return copy(policy, ret_policy, failure);
}

static int prepare_parse_into(json_t *message, struct prepare_request *request,
			      struct failure *failure)
{
	struct audit_execution *e = &request->execution;
	const char *op, *policy = NULL, *workdir = NULL, *program = NULL, *arguments_digest = NULL;
	json_t *session = NULL, *agent = NULL, *executor = NULL, *language = NULL, *log = NULL;
	json_t *binds = NULL, *limits = NULL, *arguments = NULL, *code = NULL;
	json_int_t argument_count = 0, arguments_length = 0, uid = 0, gid = 0;
	int version = 0, home = 0, observe = 0, r;
	json_error_t error;

	/* The version first: a newer client's unknown keys are not its mistake. */
	if (json_unpack_ex(message, &error, 0, "{s:i}", "version", &version) < 0)
		return malformed(failure, &error);
	r = check_version(version, failure);
	if (r < 0)
		return r;
	if (json_unpack_ex(message, &error, 0,
			   "{s:s,s:i,s:s,s:s,s:b,s:o,s?o,s?o,s?o,s?o,s:o,s:b,s?o,s:s,s:I,"
			   "s:s,s:I,s:o,s:o,s:I,s:I!}",
			   "op", &op, "version", &version, "policy", &policy, "workdir", &workdir,
			   "home", &home, "binds", &binds, "session", &session, "agent", &agent,
			   "executor", &executor, "language", &language, "limits", &limits,
			   "observe", &observe, "log", &log, "program", &program, "argument_count",
			   &argument_count, "arguments_sha256", &arguments_digest,
			   "arguments_length", &arguments_length, "arguments", &arguments, "code",
			   &code, "uid", &uid, "gid", &gid) < 0)
		return malformed(failure, &error);
	request->home = home;
	e->observe = observe;
	(void)((r = parse_policy(policy, &request->policy, failure)) < 0 ||
	       (r = copy_path("workdir", workdir, &e->workdir, failure)) < 0 ||
	       (r = copy_optional_path("log", log, &request->log, failure)) < 0 ||
	       (r = copy_name("session", session, &e->session, failure)) < 0 ||
	       (r = copy_name("agent", agent, &e->agent, failure)) < 0 ||
	       (r = copy_name("executor", executor, &e->executor, failure)) < 0 ||
	       (r = copy_name("language", language, &e->language, failure)) < 0 ||
	       (r = copy(program, &e->program, failure)) < 0 ||
	       (r = parse_binds(binds, request, failure)) < 0 ||
	       (r = protocol_limits_of(limits, &request->limits, failure)) < 0 ||
	       (r = parse_count("argument_count", argument_count, INT32_MAX, failure)) < 0 ||
	       (r = parse_count("arguments_length", arguments_length, INT64_MAX, failure)) < 0 ||
	       (r = parse_count("uid", uid, UINT32_MAX - 1, failure)) < 0 ||
	       (r = parse_count("gid", gid, UINT32_MAX - 1, failure)) < 0 ||
	       (r = parse_digest("arguments_sha256", arguments_digest, e->arguments_digest,
				 failure)) < 0 ||
	       (r = parse_code(code, &e->code, failure)) < 0);
	if (r == 0 && !e->executor)
		r = copy("cordon-run", &e->executor, failure);
	if (r < 0)
		return r;
	e->argument_count = (size_t)argument_count;
	e->arguments_length = (uint64_t)arguments_length;
	e->uid = (uint32_t)uid;
	e->gid = (uint32_t)gid;
	return parse_arguments(arguments, e, failure);
}

int prepare_request_parse(json_t *message, struct prepare_request *ret_request,
			  struct failure *failure)
{
	struct prepare_request request = {};
	int r = prepare_parse_into(message, &request, failure);

	if (r < 0)
		prepare_request_release(&request);
	else
		*ret_request = request;
	return r;
}

void prepare_request_release(struct prepare_request *request)
{
	free(request->policy);
	free(request->log);
	protocol_strings_free(request->binds);
	audit_execution_release(&request->execution);
	*request = (struct prepare_request){};
}

void audit_execution_release(struct audit_execution *execution)
{
	free(execution->session);
	free(execution->agent);
	free(execution->executor);
	free(execution->language);
	free(execution->workdir);
	free(execution->program);
	for (size_t i = 0; execution->arguments && i < execution->argument_count; i++)
		free(execution->arguments[i]);
	free(execution->arguments);
	free(execution->code.path);
	protocol_strings_free(execution->directories);
	protocol_strings_free(execution->environment_kept);
	protocol_strings_free(execution->environment_removed);
	protocol_strings_free(execution->limits_missing);
	protocol_strings_free(execution->descriptors);
	*execution = (struct audit_execution){};
}

/* --- the others --------------------------------------------------------------------------- */

int label_request_parse(json_t *message, struct label_request *ret_request, struct failure *failure)
{
	_cleanup_(protocol_strings_freep) char **kept = NULL, **removed = NULL;
	json_t *kept_json, *removed_json;
	json_error_t error;
	const char *op;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:o,s:o!}", "op", &op, "environment_kept",
			   &kept_json, "environment_removed", &removed_json) < 0)
		return malformed(failure, &error);
	r = parse_strings("environment_kept", kept_json, false, &kept, failure);
	if (r == 0)
		r = parse_strings("environment_removed", removed_json, false, &removed, failure);
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
		return malformed(failure, &error);
	r = parse_count("length", length, INT64_MAX, failure);
	if (r == 0)
		r = parse_digest("sha256", digest, request->code_digest, failure);
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
		return malformed(failure, &error);
	if (text && uuid_parse(text, id) < 0)
		return failure_set(failure, EINVAL, "\"%.64s\" is not an execution id", text);
	if (text)
		uuid_format(id, request.id);
	(void)((r = parse_ended_code(code, &request, failure)) < 0 ||
	       (r = parse_count("user_nsec", user, INT64_MAX, failure)) < 0 ||
	       (r = parse_count("system_nsec", system, INT64_MAX, failure)) < 0);
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
		return malformed(failure, &error);
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
		return malformed(failure, &error);
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
		return malformed(failure, &error);
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
		return malformed(failure, &error);
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
		return malformed(failure, &error);
	(void)((r = parse_policy(policy, &request->policy, failure)) < 0 ||
	       (r = text_or_null("execution", execution, &id, failure)) < 0 ||
	       (r = copy_name("session", session, &request->session, failure)) < 0 ||
	       (r = copy_name("all_of", all_of, &request->all_of, failure)) < 0 ||
	       (r = text_or_null("reason", reason, &why, failure)) < 0);
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
	if (why && (!*why || strlen(why) > REQUEST_REASON_MAX))
		return failure_set(failure, EINVAL, "\"reason\" must have 1 to %d bytes",
				   REQUEST_REASON_MAX);
	return copy(why, &request->reason, failure);
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

int plain_request_parse(json_t *message, struct failure *failure)
{
	json_error_t error;
	const char *op;

	if (json_unpack_ex(message, &error, 0, "{s:s!}", "op", &op) < 0)
		return malformed(failure, &error);
	return 0;
}

int hello_request_parse(json_t *message, struct failure *failure)
{
	json_error_t error;
	const char *op;
	int version;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:i!}", "op", &op, "version", &version) < 0)
		return malformed(failure, &error);
	return check_version(version, failure);
}
