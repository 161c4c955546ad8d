/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the request to prepare an execution. */
#include <limits.h>
#include <string.h>

#include "audit/record/trace_context.h"
#include "control/protocol.h"
#include "control/request.h"
#include "control/request_fields.h"

static int parse_code_names(json_t *array, struct audit_code *code, struct failure *failure)
{
	if (!array)
		return 0;
	if (json_array_size(array) != CORDON_CODE_NAMES)
		return failure_set(failure, EINVAL, "\"names\" must be %u numbers",
				   CORDON_CODE_NAMES);
	for (size_t i = 0; i < CORDON_CODE_NAMES; i++) {
		const json_t *name = json_array_get(array, i);

		if (!json_is_integer(name))
			return failure_set(failure, EINVAL, "\"names\" must be numbers");
		code->names[i] = (uint64_t)json_integer_value(name);
	}
	return 0;
}

static int parse_code(json_t *object, struct audit_code *code, struct failure *failure)
{
	const char *source = NULL, *path = NULL, *digest = NULL;
	json_t *path_json = NULL, *digest_json = NULL, *names = NULL;
	json_error_t error;
	json_int_t length = 0, changed = 0;
	int r;

	if (json_unpack_ex(object, &error, 0, "{s:s,s?o,s?o,s:I,s?o,s?I!}", "source", &source,
			   "path", &path_json, "sha256", &digest_json, "length", &length, "names",
			   &names, "ctime", &changed) < 0)
		return request_malformed(failure, &error);
	r = request_text("path", path_json, &path, failure);
	if (r == 0)
		r = request_text("sha256", digest_json, &digest, failure);
	if (r < 0)
		return r;
	if (protocol_code_source(source, &code->source) < 0)
		return failure_set(failure, EINVAL, "unknown code source \"%.64s\"", source);
	if ((code->source == AUDIT_CODE_FILE) != (path != NULL))
		return failure_set(failure, EINVAL,
				   "code has a path if, and only if, it is a file");
	r = request_copy_path("path", path, &code->path, failure);
	if (r == 0)
		r = request_count("length", length, INT64_MAX, failure);
	if (r == 0 && digest)
		r = request_digest("sha256", digest, code->digest, failure);
	if (r == 0)
		r = parse_code_names(names, code, failure);
	code->have_digest = digest != NULL;
	code->length = (uint64_t)length;
	code->changed = (uint64_t)changed;
	return r;
}

static int parse_binds(json_t *array, json_int_t found, struct prepare_request *request,
		       struct failure *failure)
{
	int r = request_strings("binds", array, false, &request->binds, failure);

	if (r < 0)
		return r;
	request->bind_count = json_array_size(array);
	if (request->bind_count > PROTOCOL_MAX_BINDS)
		return failure_set(failure, EINVAL, "at most %u directories can be bound",
				   PROTOCOL_MAX_BINDS);
	if (found < 0 || found > (json_int_t)request->bind_count)
		return failure_set(failure, EINVAL,
				   "\"binds_found\" counts more than \"binds\" has");
	request->found_count = (size_t)found;
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
	return request_strings("arguments", array, true, &execution->arguments, failure);
}

static int parse_traceparent(json_t *text, char **ret, struct failure *failure)
{
	struct trace_context context;
	int r = request_copy_name("traceparent", text, ret, failure);

	if (r == 0 && *ret && !trace_context_parse(*ret, &context))
		return failure_set(failure, EINVAL,
				   "\"traceparent\" is not as W3C Trace Context has it");
	return r;
}

static int prepare_parse_into(json_t *message, struct prepare_request *request,
			      struct failure *failure)
{
	struct audit_execution *e = &request->execution;
	const char *op, *policy = NULL, *workdir = NULL, *program = NULL, *arguments_digest = NULL;
	json_t *session = NULL, *agent = NULL, *executor = NULL, *language = NULL, *log = NULL;
	json_t *binds = NULL, *limits = NULL, *arguments = NULL, *code = NULL;
	json_t *traceparent = NULL, *conversation = NULL, *indirections = NULL, *unresolved = NULL;
	json_int_t argument_count = 0, arguments_length = 0, uid = 0, gid = 0, found = 0;
	int version = 0, home = 0, observe = 0, r;
	json_error_t error;

	/* Check the version first: a newer client may send unknown keys. */
	if (json_unpack_ex(message, &error, 0, "{s:i}", "version", &version) < 0)
		return request_malformed(failure, &error);
	r = request_check_version(version, failure);
	if (r < 0)
		return r;
	if (json_unpack_ex(message, &error, 0,
			   "{s:s,s:i,s:s,s:s,s:b,s:o,s?I,s?o,s?o,s?o,s?o,s:o,s:b,s?o,s:s,s:I,"
			   "s:s,s:I,s:o,s:o,s:I,s:I,s?o,s?o,s?o,s?o!}",
			   "op", &op, "version", &version, "policy", &policy, "workdir", &workdir,
			   "home", &home, "binds", &binds, "binds_found", &found, "session",
			   &session, "agent", &agent, "executor", &executor, "language", &language,
			   "limits", &limits, "observe", &observe, "log", &log, "program", &program,
			   "argument_count", &argument_count, "arguments_sha256", &arguments_digest,
			   "arguments_length", &arguments_length, "arguments", &arguments, "code",
			   &code, "uid", &uid, "gid", &gid, "traceparent", &traceparent,
			   "conversation", &conversation, "indirections", &indirections,
			   "unresolved", &unresolved) < 0)
		return request_malformed(failure, &error);
	request->home = home;
	e->observe = observe;
	(void)((r = request_copy_policy(policy, &request->policy, failure)) < 0 ||
	       (r = request_copy_path("workdir", workdir, &e->workdir, failure)) < 0 ||
	       (r = request_copy_optional_path("log", log, &request->log, failure)) < 0 ||
	       (r = request_copy_name("session", session, &e->session, failure)) < 0 ||
	       (r = request_copy_name("agent", agent, &e->agent, failure)) < 0 ||
	       (r = request_copy_name("executor", executor, &e->executor, failure)) < 0 ||
	       (r = request_copy_name("language", language, &e->language, failure)) < 0 ||
	       (r = parse_traceparent(traceparent, &e->traceparent, failure)) < 0 ||
	       (r = request_copy_name("conversation", conversation, &e->conversation, failure)) <
		       0 ||
	       (r = request_copy(program, &e->program, failure)) < 0 ||
	       (r = parse_binds(binds, found, request, failure)) < 0 ||
	       (indirections && (r = request_strings("indirections", indirections, false,
						     &request->indirections, failure)) < 0) ||
	       (unresolved && (r = request_strings("unresolved", unresolved, false, &e->unresolved,
						   failure)) < 0) ||
	       (r = protocol_limits_of(limits, &request->limits, failure)) < 0 ||
	       (r = request_count("argument_count", argument_count, INT32_MAX, failure)) < 0 ||
	       (r = request_count("arguments_length", arguments_length, INT64_MAX, failure)) < 0 ||
	       (r = request_count("uid", uid, UINT32_MAX - 1, failure)) < 0 ||
	       (r = request_count("gid", gid, UINT32_MAX - 1, failure)) < 0 ||
	       (r = request_digest("arguments_sha256", arguments_digest, e->arguments_digest,
				   failure)) < 0 ||
	       (r = parse_code(code, &e->code, failure)) < 0);
	if (r == 0 && !e->executor)
		r = request_copy("cordon-run", &e->executor, failure);
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
	protocol_strings_free(request->indirections);
	audit_execution_release(&request->execution);
	*request = (struct prepare_request){};
}

void audit_execution_release(struct audit_execution *execution)
{
	free(execution->session);
	free(execution->agent);
	free(execution->executor);
	free(execution->language);
	free(execution->traceparent);
	free(execution->conversation);
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
	protocol_strings_free(execution->indirections);
	protocol_strings_free(execution->unresolved);
	audit_starters_free(execution->starters);
	audit_container_release(&execution->container);
	*execution = (struct audit_execution){};
}
