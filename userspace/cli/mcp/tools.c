/* SPDX-License-Identifier: Apache-2.0 */
/* The tools that a model may ask for, each with its command of cordon. */
#include "cli/mcp/tools.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/text/buffer.h"
#include "base/io.h"
#include "cli/mcp/refusals.h"
#include "cli/term/exit_status.h"

/* What is kept of the beginning and of the end of a stream. */
#define OUTPUT_LIMIT  32768u
#define ANSWER_LIMIT  (4u << 20)
#define REPORT_LIMIT  (4u << 20)
#define TIMEOUT_MAX   86400
#define ID_LENGTH_MAX 36

/* --- arguments ---------------------------------------------------------------------------- */

static const char *unknown_key(const json_t *arguments, const char *const *known, size_t count)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)arguments, key, value) {
		bool found = false;

		for (size_t i = 0; i < count; i++)
			found |= strcmp(known[i], key) == 0;
		if (!found)
			return key;
	}
	return NULL;
}

static void add(json_t *argv, const char *word)
{
	json_array_append_new(argv, json_string(word));
}

static void add_option(json_t *argv, const char *name, const char *value)
{
	if (!value)
		return;
	add(argv, name);
	add(argv, value);
}

static const char *add_policy(const struct tool_settings *settings, const json_t *asked,
			      json_t *argv)
{
	const char *name = json_string_value(asked);

	if (asked && !name)
		return "policy is the name of a policy";
	for (size_t i = 0; name && i < settings->policy_count; i++) {
		if (strcmp(settings->policies[i], name) == 0) {
			add_option(argv, "--policy", name);
			return NULL;
		}
	}
	if (name)
		return "this policy is not among those that the server was started with";
	if (settings->policy_count > 0)
		add_option(argv, "--policy", settings->policies[0]);
	return NULL;
}

static const char *add_timeout(const json_t *asked, json_t *argv)
{
	double seconds = json_number_value(asked);
	char text[32];

	if (!asked)
		return NULL;
	if (!json_is_number(asked) || seconds < 0.001 || seconds > TIMEOUT_MAX)
		return "timeout is a number of seconds from 0.001 to 86400";
	snprintf(text, sizeof(text), "%lldms", (long long)(seconds * 1000));
	add_option(argv, "--timeout", text);
	return NULL;
}

static const char *add_command(const json_t *command, json_t *argv)
{
	const json_t *word;
	size_t i;

	add(argv, "--");
	if (json_is_string(command) && json_string_length(command) > 0) {
		add(argv, "/bin/sh");
		add(argv, "-c");
		add(argv, json_string_value(command));
		return NULL;
	}
	if (json_array_size(command) == 0)
		return "command is a line for the shell, or a list of a program and its arguments";
	json_array_foreach(command, i, word) {
		if (!json_is_string(word))
			return "a word of the command is a string";
		add(argv, json_string_value(word));
	}
	return NULL;
}

static const char *words_for_run(const struct tool_settings *settings, json_t *arguments,
				 json_t *argv)
{
	static const char *const known[] = {"command", "policy", "timeout"};
	const char *why;

	if (unknown_key(arguments, known, ARRAY_SIZE(known)))
		return "run takes command, policy and timeout";
	add(argv, "run");
	add_option(argv, "--stdin", "null");
	add_option(argv, "--report", JOB_REPORT);
	add_option(argv, "--executor", "cordon-mcp");
	add_option(argv, "--workdir", settings->workdir);
	add_option(argv, "--session", settings->session);
	add_option(argv, "--agent", settings->agent);
	add_option(argv, "--log", settings->log);
	why = add_policy(settings, json_object_get(arguments, "policy"), argv);
	if (!why)
		why = add_timeout(json_object_get(arguments, "timeout"), argv);
	return why ? why : add_command(json_object_get(arguments, "command"), argv);
}

/*
 * An id or the beginning of one: never a word that reads as an option or as a number of a record.
 */
static const char *add_id(const json_t *id, json_t *argv)
{
	const char *text = json_string_value(id);

	if (!text || strlen(text) < 8 || strlen(text) > ID_LENGTH_MAX || text[0] == '-' ||
	    text[strspn(text, "0123456789abcdef-")] != '\0')
		return "execution is the id that run gave, or its first 8 digits or more";
	add(argv, text);
	return NULL;
}

static const char *words_for_why(const struct tool_settings *settings, json_t *arguments,
				 json_t *argv)
{
	static const char *const known[] = {"execution"};

	if (unknown_key(arguments, known, ARRAY_SIZE(known)))
		return "why takes execution";
	add(argv, "why");
	add(argv, "--json");
	add_option(argv, "--log", settings->log);
	return add_id(json_object_get(arguments, "execution"), argv);
}

static const char *words_for_propose(const struct tool_settings *settings, json_t *arguments,
				     json_t *argv)
{
	static const char *const known[] = {"execution", "for"};
	const json_t *scope = json_object_get(arguments, "for");
	const char *word = scope ? json_string_value(scope) : "session";

	(void)settings;
	if (unknown_key(arguments, known, ARRAY_SIZE(known)))
		return "propose takes execution and for";
	if (!word || (strcmp(word, "session") != 0 && strcmp(word, "policy") != 0))
		return "for is session or policy";
	add(argv, "propose");
	add(argv, "--json");
	add_option(argv, "--for", word);
	return add_id(json_object_get(arguments, "execution"), argv);
}

/* --- results ------------------------------------------------------------------------------ */

static json_t *make_result(const char *text, json_t *structured, bool failed)
{
	json_t *result = json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text", "text", text,
				   "isError", failed);

	if (structured && json_object_set_new(result, "structuredContent", structured) < 0) {
		json_decref(result);
		return NULL;
	}
	return result;
}

json_t *tool_failed(const char *text)
{
	return make_result(text, NULL, true);
}

/* What a command of cordon said on its way out. */
static json_t *failed_job(const struct job *job)
{
	json_t *errors = capture_text(&job->capture[JOB_ERRORS]), *result;
	const char *text = json_string_value(errors);

	result = text ? tool_failed(*text ? text : "cordon failed, and did not say why") : NULL;
	json_decref(errors);
	return result;
}

static json_t *read_report(const struct job *job)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;

	if (lseek(job->report_fd, 0, SEEK_SET) < 0 ||
	    io_read_all(job->report_fd, REPORT_LIMIT, &text, &size) < 0)
		return NULL;
	return json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
}

static const char *text_or_empty(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void write_stream(struct buffer *out, const char *title, const json_t *stream)
{
	size_t size = json_string_length(stream);

	if (size == 0)
		return;
	buffer_string(out, title);
	buffer_add(out, json_string_value(stream), size);
	if (json_string_value(stream)[size - 1] != '\n')
		buffer_literal(out, "\n");
}

static json_int_t count_omitted(const json_t *from, const json_t *refusals)
{
	const json_t *denials = json_object_get(from, "denials");

	return json_integer_value(json_object_get(from, "denials_omitted")) +
	       (json_int_t)(json_array_size(denials) - json_array_size(refusals));
}

static void write_outcome(struct buffer *out, const json_t *run)
{
	const char *cause = text_or_empty(run, "cause");
	const json_t *status = json_object_get(run, "exit_status");

	buffer_print(out, "exit status %" JSON_INTEGER_FORMAT, json_integer_value(status));
	if (strcmp(cause, "timeout") == 0)
		buffer_literal(out, ": its time was over");
	else if (strcmp(cause, "denials") == 0)
		buffer_literal(out, ": ended, since too much was denied");
	else if (strcmp(cause, "killed") == 0)
		buffer_literal(out, ": ended on request");
	buffer_print(out, "; execution %s, policy %.64s\n", text_or_empty(run, "execution"),
		     text_or_empty(run, "policy"));
}

static char *write_run(const json_t *run)
{
	const json_t *refusals = json_object_get(run, "refusals");
	json_int_t omitted = json_integer_value(json_object_get(run, "refusals_omitted"));
	_cleanup_(freep) char *refused =
		refusals_text(refusals, omitted, json_object_get(run, "proposal"));
	struct buffer out = {};

	write_outcome(&out, run);
	write_stream(&out, "output:\n", json_object_get(run, "output"));
	write_stream(&out, "errors:\n", json_object_get(run, "errors"));
	if (json_array_size(refusals) > 0) {
		buffer_literal(&out, "denied by the policy:\n");
		buffer_string(&out, refused ? refused : "");
	}
	buffer_add(&out, "", 1);
	if (out.failed)
		buffer_free(&out);
	return out.data;
}

static json_t *proposal_of(const json_t *from)
{
	json_t *proposal = json_object_get(from, "proposal");

	return json_is_object(proposal) ? json_incref(proposal) : json_null();
}

static json_t *describe_run(const struct job *job, const json_t *report)
{
	json_t *refusals = refusals_of(json_object_get(report, "denials"), TOOL_REFUSALS_MAX);
	const char *policy =
		json_string_value(json_object_get(json_object_get(report, "policy"), "name"));
	const char *cause =
		json_string_value(json_object_get(json_object_get(report, "outcome"), "cause"));

	return json_pack("{s:s,s:s?,s:i,s:s?,s:o,s:o,s:I,s:I,s:I,s:o,s:o}", "execution",
			 text_or_empty(report, "execution"), "policy", policy, "exit_status",
			 exit_status_of_wait(job->status), "cause", cause, "output",
			 capture_text(&job->capture[JOB_OUTPUT]), "errors",
			 capture_text(&job->capture[JOB_ERRORS]), "output_omitted",
			 (json_int_t)capture_omitted(&job->capture[JOB_OUTPUT]), "errors_omitted",
			 (json_int_t)capture_omitted(&job->capture[JOB_ERRORS]), "refusals_omitted",
			 count_omitted(report, refusals), "refusals", refusals, "proposal",
			 proposal_of(report));
}

/* Without a report nothing ran, or nobody knows what became of it. */
static json_t *result_of_run(const struct job *job)
{
	json_t *report = read_report(job), *run;
	_cleanup_(freep) char *text = NULL;

	if (!report)
		return failed_job(job);
	run = describe_run(job, report);
	json_decref(report);
	text = run ? write_run(run) : NULL;
	if (text)
		return make_result(text, run, false);
	json_decref(run);
	return NULL;
}

static json_t *parse_answer(const struct job *job)
{
	const struct buffer *answer = &job->capture[JOB_OUTPUT].head;

	return answer->size > 0 ? json_loadb(answer->data, answer->size, 0, NULL) : NULL;
}

static json_t *result_of_why(const struct job *job)
{
	_cleanup_(json_decrefp) json_t *why = parse_answer(job);
	_cleanup_(freep) char *text = NULL;
	json_int_t omitted;
	json_t *refusals;

	if (!why)
		return failed_job(job);
	refusals = refusals_of(json_object_get(why, "denials"), TOOL_REFUSALS_MAX);
	omitted = count_omitted(why, refusals);
	text = refusals_text(refusals, omitted, json_object_get(why, "proposal"));
	if (!refusals || !text) {
		json_decref(refusals);
		return NULL;
	}
	return make_result(*text ? text : "Nothing was denied.",
			   json_pack("{s:o,s:I,s:o}", "refusals", refusals, "refusals_omitted",
				     omitted, "proposal", proposal_of(why)),
			   false);
}

static char *write_proposal(const json_t *entry)
{
	const json_t *witnesses = json_object_get(entry, "witnesses"), *line;
	const char *state = text_or_empty(entry, "state");
	struct buffer out = {};
	size_t i;

	if (strcmp(state, "approved") == 0)
		buffer_literal(&out, "This is approved: run it again.\n");
	else
		buffer_literal(
			&out,
			"This waits for a person. Until it is approved it stays denied: go on with "
			"what does not need it.\n");
	json_array_foreach(witnesses, i, line) {
		buffer_literal(&out, "- it would allow: ");
		buffer_string(&out, json_string_value(line) ? json_string_value(line) : "?");
		buffer_literal(&out, "\n");
	}
	buffer_add(&out, "", 1);
	if (out.failed)
		buffer_free(&out);
	return out.data;
}

static json_t *result_of_propose(const struct job *job)
{
	json_t *entry = parse_answer(job), *shown;
	_cleanup_(freep) char *text = NULL;

	if (!entry)
		return failed_job(job);
	text = write_proposal(entry);
	shown = json_pack("{s:s,s:s,s:s,s:O}", "digest", text_or_empty(entry, "digest"), "state",
			  text_or_empty(entry, "state"), "policy", text_or_empty(entry, "policy"),
			  "expires", json_object_get(entry, "expires"));
	json_decref(entry);
	if (text && shown)
		return make_result(text, shown, false);
	json_decref(shown);
	return NULL;
}

/* --- the list ----------------------------------------------------------------------------- */

static const struct tool tools[] = {
	{"run", OUTPUT_LIMIT, words_for_run, result_of_run},
	{"why", ANSWER_LIMIT, words_for_why, result_of_why},
	{"propose", ANSWER_LIMIT, words_for_propose, result_of_propose},
};

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

static const char run_description[] =
	"Runs a command under a policy that the kernel enforces, and returns its output, its exit status and what was "
	"refused to it: a sentence each, with the smallest rule that would allow it. It ends when its time is over, and "
	"with all that it started.";
static const char why_description[] =
	"Says again what was denied to an execution, why, and the smallest rule that would allow it.";

static const char propose_description[] =
	"Asks a person for what an execution was denied: for the session (the runs of this server), or for all runs under "
	"the policy. Say to whoever you work for what it is needed for. Nothing is allowed until it is approved; then run again.";

static json_t *describe_policies(const struct tool_settings *settings)
{
	json_t *names = json_array();

	for (size_t i = 0; i < settings->policy_count; i++)
		json_array_append_new(names, json_string(settings->policies[i]));
	return json_pack("{s:s,s:o,s:s}", "type", "string", "enum", names, "description",
			 "What the command may do; default: the first of these.");
}

static json_t *describe_run_arguments(const struct tool_settings *settings)
{
	json_t *properties =
		json_pack("{s:{s:[{s:s,s:i},{s:s,s:{s:s},s:i}],s:s},s:{s:s,s:f,s:i,s:s}}",
			  "command", "anyOf", "type", "string", "minLength", 1, "type", "array",
			  "items", "type", "string", "minItems", 1, "description",
			  "A line for /bin/sh, or a program and its arguments as a list.",
			  "timeout", "type", "number", "minimum", 0.001, "maximum", TIMEOUT_MAX,
			  "description", "Seconds; it can only lower the policy's limit.");

	if (settings->policy_count > 0)
		json_object_set_new(properties, "policy", describe_policies(settings));
	return json_pack("{s:s,s:o,s:[s],s:b}", "type", "object", "properties", properties,
			 "required", "command", "additionalProperties", 0);
}

static json_t *describe_id_argument(void)
{
	return json_pack("{s:s,s:{s:{s:s,s:s,s:s}},s:[s],s:b}", "type", "object", "properties",
			 "execution", "type", "string", "pattern", "^[0-9a-f][0-9a-f-]{7,35}$",
			 "description", "The id that run gave.", "required", "execution",
			 "additionalProperties", 0);
}

static json_t *describe_propose_arguments(void)
{
	json_t *arguments = describe_id_argument();

	json_object_set_new(json_object_get(arguments, "properties"), "for",
			    json_pack("{s:s,s:[s,s],s:s}", "type", "string", "enum", "session",
				      "policy", "default", "session"));
	return arguments;
}

static json_t *describe(const char *name, const char *description, json_t *arguments,
			bool read_only)
{
	return json_pack("{s:s,s:s,s:o,s:{s:b}}", "name", name, "description", description,
			 "inputSchema", arguments, "annotations", "readOnlyHint", read_only);
}

json_t *tools_describe(const struct tool_settings *settings)
{
	return json_pack("[o,o,o]",
			 describe("run", run_description, describe_run_arguments(settings), false),
			 describe("why", why_description, describe_id_argument(), true),
			 describe("propose", propose_description, describe_propose_arguments(),
				  false));
}
