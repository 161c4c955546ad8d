/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC and MCP by messages as clients, broken ones and hostile ones send them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/cleanup.h"
#include "cli/mcp/line_input.h"
#include "cli/mcp/rpc.h"
#include "cli/mcp/session.h"

struct fake {
	int calls;
	json_t *last_id, *cancelled;
};

static json_t *list(void *context)
{
	(void)context;
	return json_pack("[{s:s}]", "name", "tool");
}

static json_t *call(void *context, const json_t *id, const char *name, json_t *arguments)
{
	struct fake *fake = context;

	(void)arguments;
	if (strcmp(name, "later") == 0) {
		fake->calls++;
		json_decref(fake->last_id);
		fake->last_id = json_deep_copy(id);
		return NULL;
	}
	return rpc_refusal(id, RPC_INVALID_PARAMS, "no such tool");
}

static void cancel(void *context, const json_t *id)
{
	struct fake *fake = context;

	json_decref(fake->cancelled);
	fake->cancelled = json_deep_copy(id);
}

struct fixture {
	struct fake fake;
	struct mcp_tools tools;
	struct mcp_session session;
};

static json_t *say(struct fixture *f, const char *text)
{
	return mcp_session_take(&f->session, text, strlen(text));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->tools = (struct mcp_tools){list, call, cancel, &f->fake};
	f->session.tools = &f->tools;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	json_decref(f->fake.last_id);
	json_decref(f->fake.cancelled);
	free(f);
	return 0;
}

static void initialize(struct fixture *f)
{
	json_t *answer = say(f, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
				"\"params\":{\"protocolVersion\":\"2025-06-18\"}}");

	assert_string_equal(json_string_value(json_object_get(json_object_get(answer, "result"),
							      "protocolVersion")),
			    "2025-06-18");
	json_decref(answer);
}

/* The answer is an error with this code and the id, given as JSON. */
static void assert_refused(json_t *answer, int code, const char *id)
{
	json_t *expected = json_loads(id, JSON_DECODE_ANY, NULL);

	assert_non_null(answer);
	assert_string_equal(json_string_value(json_object_get(answer, "jsonrpc")), "2.0");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(answer, "error"), "code")),
		code);
	assert_true(json_is_string(json_object_get(json_object_get(answer, "error"), "message")));
	assert_null(json_object_get(answer, "result"));
	assert_true(json_equal(json_object_get(answer, "id"), expected));
	json_decref(expected);
	json_decref(answer);
}

static void test_malformed(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *id;
	} rows[] = {
		{"", RPC_PARSE_ERROR, "null"},
		{"   ", RPC_PARSE_ERROR, "null"},
		{"{", RPC_PARSE_ERROR, "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", RPC_PARSE_ERROR,
		 "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x", RPC_PARSE_ERROR, "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", RPC_PARSE_ERROR, "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u0000\"}", RPC_PARSE_ERROR, "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}",
		 RPC_PARSE_ERROR, "null"},
		{"1", RPC_INVALID_REQUEST, "null"},
		{"null", RPC_INVALID_REQUEST, "null"},
		{"\"ping\"", RPC_INVALID_REQUEST, "null"},
		{"{}", RPC_INVALID_REQUEST, "null"},
		{"{\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, "1"},
		{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", RPC_INVALID_REQUEST, "1"},
		{"{\"jsonrpc\":\"1.0\",\"id\":\"x\",\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		 "\"x\""},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST, "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", RPC_INVALID_REQUEST, "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7,\"result\":{}}", RPC_INVALID_REQUEST,
		 "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		 "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		 "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		 "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", RPC_INVALID_REQUEST,
		 "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
		 RPC_INVALID_PARAMS, "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}",
		 RPC_INVALID_PARAMS, "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"approve\"}", RPC_METHOD_NOT_FOUND,
		 "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/approve\"}",
		 RPC_METHOD_NOT_FOUND, "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", RPC_INVALID_PARAMS,
		 "1"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		 "\"protocolVersion\":1}}",
		 RPC_INVALID_PARAMS, "1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_refused(say(*state, rows[i].text), rows[i].code, rows[i].id);
}

static void test_batch(void **state)
{
	initialize(*state);
	assert_refused(say(*state, "[]"), RPC_INVALID_REQUEST, "null");
	assert_refused(say(*state, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"),
		       RPC_INVALID_REQUEST, "null");
}

static void test_nesting(void **state)
{
	size_t depth = 300000;
	char *text = malloc(depth + 1);

	memset(text, '[', depth);
	text[depth] = '\0';
	assert_refused(say(*state, text), RPC_PARSE_ERROR, "null");
	free(text);
}

static void test_ids(void **state)
{
	static const char *const ids[] = {"0", "-7", "9223372036854775807", "\"\"", "\"a\\u00e4\""};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		json_t *expected = json_loads(ids[i], JSON_DECODE_ANY, NULL), *answer;
		char text[128];

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 ids[i]);
		answer = say(*state, text);
		assert_true(json_equal(json_object_get(answer, "id"), expected));
		assert_int_equal(json_object_size(json_object_get(answer, "result")), 0);
		assert_null(json_object_get(answer, "error"));
		json_decref(expected);
		json_decref(answer);
	}
}

/* Nobody answers these, however wrong they are. */
static void test_notifications(void **state)
{
	struct fixture *f = *state;

	initialize(f);
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"unknown\"}"));
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}"));
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":[]}"));
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}"));
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{}}"));
	/* Without an id, a call is none. */
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\","
			   "\"params\":{\"name\":\"later\"}}"));
	assert_int_equal(f->fake.calls, 0);
}

static void test_order(void **state)
{
	struct fixture *f = *state;

	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"),
		       RPC_INVALID_REQUEST, "1");
	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
			      "\"params\":{\"name\":\"later\"}}"),
		       RPC_INVALID_REQUEST, "1");
	assert_int_equal(f->fake.calls, 0);
	initialize(f);
	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
			      "\"params\":{\"protocolVersion\":\"2025-06-18\"}}"),
		       RPC_INVALID_REQUEST, "1");
}

/* Whoever asks for another version is told of this one. */
static void test_version(void **state)
{
	json_t *answer = say(*state, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
				     "\"params\":{\"protocolVersion\":\"2031-01-01\"}}"),
	       *result = json_object_get(answer, "result");

	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")),
			    "2025-06-18");
	assert_true(
		json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools")));
	json_decref(answer);
}

static void test_calls(void **state)
{
	struct fixture *f = *state;
	json_t *answer;

	initialize(f);
	answer = say(f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(answer, "result"), "tools")), 1);
	json_decref(answer);
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\","
			   "\"params\":{\"name\":\"later\",\"arguments\":{}}}"));
	assert_int_equal(f->fake.calls, 1);
	assert_string_equal(json_string_value(f->fake.last_id), "x");
	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}"),
		       RPC_INVALID_PARAMS, "2");
	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
			      "\"params\":{\"name\":\"later\",\"arguments\":[]}}"),
		       RPC_INVALID_PARAMS, "2");
	assert_refused(say(f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
			      "\"params\":{\"name\":\"approve\"}}"),
		       RPC_INVALID_PARAMS, "2");
	assert_int_equal(f->fake.calls, 1);
	assert_null(say(f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			   "\"params\":{\"requestId\":\"x\"}}"));
	assert_string_equal(json_string_value(f->fake.cancelled), "x");
}

static void add(struct line_input *input, const char *text)
{
	assert_int_equal(line_input_add(input, text, strlen(text)), 0);
}

static void assert_line(struct line_input *input, const char *expected)
{
	char *line;
	size_t size;

	assert_int_equal(line_input_next(input, &line, &size), LINE_TAKEN);
	assert_int_equal(size, strlen(expected));
	assert_string_equal(line, expected);
	free(line);
}

static void assert_none(struct line_input *input, enum line_found expected)
{
	char *line;
	size_t size;

	assert_int_equal(line_input_next(input, &line, &size), expected);
}

static void test_lines(void **state)
{
	struct line_input input = {.limit = 8};

	(void)state;
	assert_none(&input, LINE_NONE);
	add(&input, "ab");
	assert_none(&input, LINE_NONE);
	add(&input, "c\n\n12345678\nrest");
	assert_line(&input, "abc");
	assert_line(&input, "");
	assert_line(&input, "12345678");
	assert_none(&input, LINE_NONE);
	line_input_free(&input);
}

/*
 * Said once, whether it comes at once or in parts; what is held stays small; the next line is
 * whole.
 */
static void test_long_lines(void **state)
{
	struct line_input input = {.limit = 8};

	(void)state;
	add(&input, "123456789\nnext\n");
	assert_none(&input, LINE_TOO_LONG);
	assert_line(&input, "next");
	add(&input, "12345678");
	assert_none(&input, LINE_NONE);
	add(&input, "9");
	assert_none(&input, LINE_TOO_LONG);
	for (int i = 0; i < 1000; i++) {
		add(&input, "0123456789");
		assert_none(&input, LINE_NONE);
		assert_int_equal(input.bytes.size, 0);
	}
	add(&input, "end\nnext\n123456789");
	assert_line(&input, "next");
	assert_none(&input, LINE_TOO_LONG);
	add(&input, "\n");
	assert_none(&input, LINE_NONE);
	line_input_free(&input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_malformed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_batch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nesting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_notifications, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_calls, set_up, tear_down),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
