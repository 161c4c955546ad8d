/* SPDX-License-Identifier: Apache-2.0 */
/* What a model's arguments become, and what a run's report becomes for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "base/cleanup.h"
#include "cli/mcp/refusals.h"
#include "cli/mcp/tools.h"

static const struct tool_settings settings = {
	.policies = {"python-sandbox", "tight"},
	.policy_count = 2,
	.workdir = "/srv/job",
};
static const struct tool_settings plain;

/* The words, with spaces between; or what is wrong. Caller frees. */
static char *words(const struct tool_settings *with, const char *tool, const char *arguments)
{
	json_t *parsed = json_loads(arguments, 0, NULL), *argv = json_array(), *word;
	const char *why = tool_find(tool)->words(with, parsed, argv);
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(parsed);
	if (why)
		fprintf(out, "! %s", why);
	else
		json_array_foreach(argv, i, word)
			fprintf(out, i ? " %s" : "%s", json_string_value(word));
	fclose(out);
	json_decref(parsed);
	json_decref(argv);
	return text;
}

static void assert_words(const struct tool_settings *with, const char *tool, const char *arguments,
			 const char *expected)
{
	char *text = words(with, tool, arguments);

	assert_string_equal(text, expected);
	free(text);
}

#define RUN "run --stdin null --report /dev/fd/3 --executor cordon-mcp"

static void test_run_words(void **state)
{
	(void)state;
	assert_words(&plain, "run", "{\"command\":\"ls; id\"}", RUN " -- /bin/sh -c ls; id");
	assert_words(&plain, "run", "{\"command\":[\"--policy\",\"observe\"],\"timeout\":1.5}",
		     RUN " --timeout 1500ms -- --policy observe");
	assert_words(&settings, "run", "{\"command\":\"id\"}",
		     RUN " --workdir /srv/job --policy python-sandbox -- /bin/sh -c id");
	assert_words(&settings, "run", "{\"command\":\"id\",\"policy\":\"tight\"}",
		     RUN " --workdir /srv/job --policy tight -- /bin/sh -c id");
}

static void test_refused_words(void **state)
{
	static const char *const rows[] = {
		"{}",
		"{\"command\":\"\"}",
		"{\"command\":7}",
		"{\"command\":[]}",
		"{\"command\":[1]}",
		"{\"command\":\"id\",\"policy\":\"observe\"}",
		"{\"command\":\"id\",\"policy\":\"/tmp/mine.yaml\"}",
		"{\"command\":\"id\",\"policy\":\"\"}",
		"{\"command\":\"id\",\"policy\":1}",
		"{\"command\":\"id\",\"timeout\":0}",
		"{\"command\":\"id\",\"timeout\":-1}",
		"{\"command\":\"id\",\"timeout\":1e300}",
		"{\"command\":\"id\",\"timeout\":\"5\"}",
		"{\"command\":\"id\",\"workdir\":\"/\"}",
		"{\"command\":\"id\",\"user\":\"root\"}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = words(&settings, "run", rows[i]);

		assert_int_equal(text[0], '!');
		free(text);
	}
	/* Where the person chose none, the model chooses none. */
	assert_words(&plain, "run", "{\"command\":\"id\",\"policy\":\"tight\"}",
		     "! this policy is not among those that the server was started with");
	assert_null(tool_find("approve"));
	assert_null(tool_find("approvals"));
}

static void test_why_words(void **state)
{
	static const char *const rows[] = {
		"{}",
		"{\"execution\":\"last\"}",
		"{\"execution\":\"--log=/etc\"}",
		"{\"execution\":\"-1234567\"}",
		"{\"execution\":\"1234567\"}",
		"{\"execution\":\"01a200d6-0593-7d12-b4c9-af794e74c0c00\"}",
		"{\"execution\":\"01a200d6\",\"log\":\"/tmp\"}",
	};

	(void)state;
	assert_words(&plain, "why", "{\"execution\":\"01a200d6-0593\"}",
		     "why --json 01a200d6-0593");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = words(&plain, "why", rows[i]);

		assert_int_equal(text[0], '!');
		free(text);
	}
}

static void test_propose_words(void **state)
{
	static const char *const rows[] = {
		"{}",
		"{\"execution\":\"last\"}",
		"{\"execution\":\"01a200d6\",\"for\":\"execution\"}",
		"{\"execution\":\"01a200d6\",\"for\":7}",
		"{\"execution\":\"01a200d6\",\"until\":\"30d\"}",
	};

	(void)state;
	assert_words(&plain, "propose", "{\"execution\":\"01a200d6\"}",
		     "propose --json --for session 01a200d6");
	assert_words(&plain, "propose", "{\"execution\":\"01a200d6\",\"for\":\"policy\"}",
		     "propose --json --for policy 01a200d6");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = words(&plain, "propose", rows[i]);

		assert_int_equal(text[0], '!');
		free(text);
	}
}

static void test_descriptions(void **state)
{
	json_t *with = tools_describe(&settings), *without = tools_describe(&plain), *tool;
	size_t i;

	(void)state;
	json_array_foreach(with, i, tool) {
		assert_non_null(tool_find(json_string_value(json_object_get(tool, "name"))));
		assert_non_null(json_object_get(tool, "inputSchema"));
	}
	assert_int_equal(i, 3);
	assert_non_null(json_object_get(
		json_object_get(json_object_get(json_array_get(with, 0), "inputSchema"),
				"properties"),
		"policy"));
	assert_null(json_object_get(
		json_object_get(json_object_get(json_array_get(without, 0), "inputSchema"),
				"properties"),
		"policy"));
	json_decref(with);
	json_decref(without);
}

/* --- results ------------------------------------------------------------------------------ */

static const char report[] =
	"{\"execution\":\"01a200d6-0593-7d12-b4c9-af794e74c0c0\",\"policy\":{\"name\":\"tight\"},"
	"\"outcome\":{\"cause\":\"exited\",\"exit_code\":1},\"denials_omitted\":2,\"denials\":["
	"{\"what\":\"read of /root/.ssh/id_rsa was denied\",\"rule\":{\"file\":\"credentials.yaml\",\"line\":9},"
	"\"message\":\"Ask.\",\"how_to_ask\":null,\"why_not\":\"a rule denies it\",\"count\":3},"
	"{\"what\":\"write of /srv/out was denied\",\"rule\":\"no rule allows it\",\"message\":null,"
	"\"how_to_ask\":\"files:\\n  - {allow: [write], paths: [\\\"/srv/out\\\"]}\",\"why_not\":null,\"count\":1}]}";

static struct job ended_job(const char *written, const char *output, size_t size)
{
	struct job job = JOB_NONE;

	job.report_fd = memfd_create("report", MFD_CLOEXEC);
	assert_true(job.report_fd >= 0);
	assert_int_equal(write(job.report_fd, written, strlen(written)), (ssize_t)strlen(written));
	job.status = 1 << 8;
	for (int i = 0; i < JOB_STREAMS; i++)
		job.capture[i].limit = 4;
	assert_int_equal(capture_add(&job.capture[JOB_OUTPUT], output, size), 0);
	return job;
}

static const char *text_of(const json_t *result)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));
}

static void test_run_result(void **state)
{
	struct job job = ended_job(report, "a\0\xff", 3);
	json_t *result = tool_find("run")->result(&job);
	const json_t *structured = json_object_get(result, "structuredContent");

	(void)state;
	assert_true(json_is_false(json_object_get(result, "isError")));
	assert_string_equal(
		text_of(result),
		"exit status 1; execution 01a200d6-0593-7d12-b4c9-af794e74c0c0, policy tight\n"
		"output:\na\xef\xbf\xbd\xef\xbf\xbd\n"
		"denied by the policy:\n"
		"- read of /root/.ssh/id_rsa was denied, by the rule in credentials.yaml:9 (\"Ask.\"); it cannot be "
		"proposed: a rule denies it. (3 times)\n"
		"- write of /srv/out was denied: no rule allows it.\n"
		"  what would allow it:\n"
		"    files:\n"
		"      - {allow: [write], paths: [\"/srv/out\"]}\n"
		"- and 2 more\n");
	assert_int_equal(json_integer_value(json_object_get(structured, "exit_status")), 1);
	assert_int_equal(json_array_size(json_object_get(structured, "refusals")), 2);
	json_decref(result);
	job_release(&job);
}

/* One change for all of it is in the place of a rule for each. */
static void test_run_proposal(void **state)
{
	static const char with[] =
		"{\"execution\":\"01a200d6-0593-7d12-b4c9-af794e74c0c0\",\"policy\":{\"name\":\"p\"},"
		"\"outcome\":{\"cause\":\"exited\"},\"denials\":[{\"what\":\"write of /x was denied\","
		"\"rule\":\"no rule allows it\",\"how_to_ask\":\"files: x\",\"count\":1}],"
		"\"proposal\":{\"policy\":\"build-c\",\"amendment\":\"version: 1\\namends: p\\n\","
		"\"notes\":[\"left out\"]}}";
	struct job job = ended_job(with, "", 0);
	json_t *result = tool_find("run")->result(&job);
	const json_t *structured = json_object_get(result, "structuredContent");

	(void)state;
	assert_non_null(strstr(text_of(result),
			       "- write of /x was denied: no rule allows it.\n"
			       "The policy build-c allows all of this.\n"
			       "This would allow it, as one change of the policy:\n"
			       "    version: 1\n"
			       "    amends: p\n"
			       "note: left out\n"));
	assert_null(strstr(text_of(result), "files: x"));
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(structured, "proposal"), "policy")),
			    "build-c");
	json_decref(result);
	job_release(&job);
}

static void test_propose_result(void **state)
{
	struct job job = ended_job("", "", 0);
	const char *entry =
		"{\"digest\":\"ab\",\"state\":\"waiting\",\"policy\":\"p\",\"expires\":7,"
		"\"witnesses\":[\"files read /x\"]}";
	json_t *result;

	(void)state;
	job.capture[JOB_OUTPUT].limit = 4096;
	assert_int_equal(capture_add(&job.capture[JOB_OUTPUT], entry, strlen(entry)), 0);
	result = tool_find("propose")->result(&job);
	assert_true(json_is_false(json_object_get(result, "isError")));
	assert_non_null(strstr(text_of(result), "- it would allow: files read /x\n"));
	assert_non_null(strstr(text_of(result), "waits for a person"));
	json_decref(result);
	job_release(&job);
}

static void test_nothing_ran(void **state)
{
	static const char *const reports[] = {"", "{", "[]x"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		struct job job = ended_job(reports[i], "", 0);
		json_t *result;

		assert_int_equal(capture_add(&job.capture[JOB_ERRORS], "no", 2), 0);
		result = tool_find("run")->result(&job);
		assert_true(json_is_true(json_object_get(result, "isError")));
		assert_string_equal(text_of(result), "no");
		json_decref(result);
		job_release(&job);
	}
}

/* Beginning and end are kept, whatever the pieces that it comes in. */
static void test_capture(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= 26; piece++) {
		struct capture c = {.limit = 3};
		const char *letters = "abcdefghijklmnopqrstuvwxyz";
		json_t *text;

		for (size_t i = 0; i < 26; i += piece)
			assert_int_equal(
				capture_add(&c, letters + i, 26 - i < piece ? 26 - i : piece), 0);
		text = capture_text(&c);
		assert_string_equal(json_string_value(text),
				    "abc\n[20 bytes are left out here]\nxyz");
		assert_int_equal(capture_omitted(&c), 20);
		json_decref(text);
		capture_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_words),      cmocka_unit_test(test_refused_words),
		cmocka_unit_test(test_why_words),      cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_propose_words),  cmocka_unit_test(test_run_result),
		cmocka_unit_test(test_nothing_ran),    cmocka_unit_test(test_run_proposal),
		cmocka_unit_test(test_propose_result), cmocka_unit_test(test_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
