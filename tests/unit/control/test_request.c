/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "control/request.h"
#include "tests/unit/control/request_fixture.h"

static void test_good(void **state)
{
	struct prepare_request request;
	struct failure failure = {};
	json_t *message = good_prepare();
	const struct audit_execution *e = &request.execution;

	(void)state;
	assert_int_equal(prepare_request_parse(message, &request, &failure), 0);
	assert_string_equal(request.policy, "python-sandbox");
	assert_true(request.home);
	assert_int_equal(request.bind_count, 1);
	assert_string_equal(request.binds[0], "docs");
	assert_int_equal(request.limits.wall_nsec, 5000000000);
	assert_null(request.log);
	assert_string_equal(e->workdir, "/srv/work");
	assert_string_equal(e->session, "s-1");
	assert_null(e->agent);
	assert_string_equal(e->executor, "cordon-run");
	assert_string_equal(e->language, "python");
	assert_string_equal(e->traceparent,
			    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
	assert_string_equal(e->conversation, "c-17");
	assert_int_equal(e->argument_count, 2);
	assert_string_equal(e->arguments[0], "python3");
	assert_null(e->arguments[1]);
	assert_int_equal(e->code.source, AUDIT_CODE_FILE);
	assert_true(e->code.have_digest);
	assert_int_equal(e->code.digest[0], 0xe3);
	assert_int_equal(e->uid, 1000);
	assert_int_equal(e->gid, 1001);
	prepare_request_release(&request);
	json_decref(message);
}

/* Every key but the optional ones is needed; every key refuses another type; none more is taken. */
static void test_keys(void **state)
{
	static const char *const optional[] = {"session", "agent",	 "executor",	"language",
					       "log",	  "traceparent", "conversation"};
	json_t *good = good_prepare(), *value;
	struct prepare_request request;
	const char *key;

	(void)state;
	json_object_foreach(good, key, value) {
		json_t *message = json_copy(good);
		bool may_miss = false;

		for (size_t i = 0; i < ARRAY_SIZE(optional); i++)
			may_miss |= strcmp(optional[i], key) == 0;
		json_object_del(message, key);
		/* The op was looked at before, to come here; it must be a text all the same. */
		assert_int_equal(prepare_request_parse(message, &request, NULL),
				 may_miss ? 0 : -EINVAL);
		if (may_miss)
			prepare_request_release(&request);
		json_object_set_new(message, key, json_real(1.5));
		assert_int_equal(prepare_request_parse(message, &request, NULL), -EINVAL);
		json_decref(message);
	}
	json_object_set_new(good, "more", json_true());
	assert_int_equal(prepare_request_parse(good, &request, NULL), -EINVAL);
	json_decref(good);
}

static void test_values(void **state)
{
	static const struct {
		const char *key, *json, *says;
	} cases[] = {
		{"policy", "\"\"", "policy"},
		{"policy", "\"a/b\"", "policy"},
		{"policy", "\"../x\"", "policy"},
		{"workdir", "\"work\"", "absolute"},
		{"log", "\"log\"", "absolute"},
		{"session", "\"\"", "session"},
		{"traceparent", "\"\"", "traceparent"},
		{"traceparent", "\"00-1-2-01\"", "W3C"},
		{"conversation", "\"\"", "conversation"},
		{"binds", "[1]", "binds"},
		{"binds", "[\"\"]", "binds"},
		{"binds", "[\"a\",\"a\"]", "twice"},
		{"binds", "[\"workdir\"]", "workdir"},
		{"binds", "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"]", "at most"},
		{"limits", "{\"wall_nsec\":-1}", "wall_nsec"},
		{"limits", "{\"walls\":1}", "walls"},
		{"argument_count", "-1", "argument_count"},
		{"argument_count", "3", "arguments"},
		{"arguments_sha256", "\"e3\"", "arguments_sha256"},
		{"arguments_length", "-5", "arguments_length"},
		{"uid", "-1", "uid"},
		{"uid", "4294967295", "uid"},
		{"gid", "4294967296", "gid"},
		{"code", "{\"source\":\"file\",\"path\":null,\"sha256\":null,\"length\":0}",
		 "path"},
		{"code", "{\"source\":\"argument\",\"path\":\"/x\",\"sha256\":null,\"length\":0}",
		 "path"},
		{"code", "{\"source\":\"oracle\",\"path\":null,\"sha256\":null,\"length\":0}",
		 "oracle"},
		{"code", "{\"source\":\"stdin\",\"path\":null,\"sha256\":null,\"length\":-1}",
		 "length"},
		{"code",
		 "{\"source\":\"stdin\",\"path\":null,\"sha256\":null,\"length\":0,\"x\":1}", "x"},
		{"version", "1", "version 2"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *message = good_prepare();
		json_t *value = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
		struct prepare_request request;
		struct failure failure = {};

		assert_non_null(value);
		json_object_set_new(message, cases[i].key, value);
		assert_true(prepare_request_parse(message, &request, &failure) < 0);
		if (!strstr(failure.text, cases[i].says))
			fail_msg("%s %s: %s", cases[i].key, cases[i].json, failure.text);
		json_decref(message);
	}
}

static json_t *load(const char *text)
{
	json_t *message = json_loads(text, 0, NULL);

	assert_non_null(message);
	return message;
}

static void test_others(void **state)
{
	struct ended_request ended;
	struct abort_request aborted;
	struct label_request label;
	unsigned char id[16];
	enum request_op op;
	json_t *message;
	uint32_t from;
	bool force;

	(void)state;
	message = load("{\"op\":\"ended\",\"status\":256,\"code\":{\"sha256\":\"" FIXTURE_DIGEST
		       "\",\"length\":4},\"user_nsec\":1,\"system_nsec\":2}");
	assert_int_equal(request_op(message, &op, NULL), 0);
	assert_int_equal(op, REQUEST_ENDED);
	assert_int_equal(ended_request_parse(message, &ended, NULL), 0);
	assert_int_equal(ended.status, 256);
	assert_true(ended.have_code);
	assert_int_equal(ended.code_length, 4);
	assert_string_equal(ended.id, "");
	json_object_set_new(message, "id", json_string("0192A3B4-0000-7000-8000-000000000000"));
	assert_int_equal(ended_request_parse(message, &ended, NULL), 0);
	assert_string_equal(ended.id, "0192a3b4-0000-7000-8000-000000000000");
	json_object_set_new(message, "id", json_string("0192a3b4"));
	assert_int_equal(ended_request_parse(message, &ended, NULL), -EINVAL);
	json_object_del(message, "id");
	json_object_set_new(message, "code", json_null());
	assert_int_equal(ended_request_parse(message, &ended, NULL), 0);
	assert_false(ended.have_code);
	json_object_set_new(message, "code", json_string("x"));
	assert_int_equal(ended_request_parse(message, &ended, NULL), -EINVAL);
	json_decref(message);

	message = load("{\"op\":\"ps\"}");
	assert_int_equal(ps_request_parse(message, &from, NULL), 0);
	assert_int_equal(from, 0);
	json_object_set_new(message, "from", json_integer(16383));
	assert_int_equal(ps_request_parse(message, &from, NULL), 0);
	assert_int_equal(from, 16383);
	json_object_set_new(message, "from", json_integer(16384));
	assert_int_equal(ps_request_parse(message, &from, NULL), -EINVAL);
	json_object_set_new(message, "from", json_integer(-1));
	assert_int_equal(ps_request_parse(message, &from, NULL), -EINVAL);
	json_decref(message);

	message = load("{\"op\":\"abort\",\"error\":\"ENOENT\",\"message\":\"no\"}");
	assert_int_equal(abort_request_parse(message, &aborted, NULL), 0);
	assert_int_equal(aborted.error, ENOENT);
	assert_string_equal(aborted.message, "no");
	json_decref(message);

	message =
		load("{\"op\":\"label\",\"environment_kept\":[\"A\"],\"environment_removed\":[]}");
	assert_int_equal(label_request_parse(message, &label, NULL), 0);
	assert_string_equal(label.kept[0], "A");
	assert_null(label.removed[0]);
	label_request_release(&label);
	json_object_set_new(message, "environment_removed", json_pack("[n]"));
	assert_int_equal(label_request_parse(message, &label, NULL), -EINVAL);
	json_decref(message);

	message = load("{\"op\":\"kill\",\"id\":\"01a200b0-9a16-761b-9929-42330cf895e5\"}");
	assert_int_equal(kill_request_parse(message, id, NULL), 0);
	assert_int_equal(id[0], 1);
	json_object_set_new(message, "id", json_string("../../etc"));
	assert_int_equal(kill_request_parse(message, id, NULL), -EINVAL);
	json_decref(message);

	message = load("{\"op\":\"stop\",\"force\":true}");
	assert_int_equal(stop_request_parse(message, &force, NULL), 0);
	assert_true(force);
	json_decref(message);

	message = load("{\"op\":\"ps\",\"force\":true}");
	assert_int_equal(plain_request_parse(message, NULL), -EINVAL);
	json_decref(message);

	message = load("{\"op\":\"nothing\"}");
	assert_int_equal(request_op(message, &op, NULL), -EINVAL);
	json_decref(message);
}

#define ID "01a200b0-9a16-761b-9929-42330cf895e5"

static void test_apply(void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{"{\"op\":\"apply\",\"policy\":\"p\",\"execution\":\"" ID "\"}", 0},
		{"{\"op\":\"apply\",\"policy\":\"/p.yaml\",\"session\":\"s\",\"all_of\":null}", 0},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"all_of\":\"q\",\"reason\":\"r\"}", 0},
		{"{\"op\":\"apply\",\"policy\":\"p\"}", -EINVAL},
		{"{\"op\":\"apply\",\"session\":\"s\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"a/b\",\"session\":\"s\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"session\":\"s\",\"all_of\":\"q\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"session\":\"\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"execution\":\"x\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"session\":\"s\",\"reason\":\"\"}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"session\":\"s\",\"reason\":1}", -EINVAL},
		{"{\"op\":\"apply\",\"policy\":\"p\",\"session\":\"s\",\"force\":true}", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *message = load(cases[i].text);
		struct apply_request request = {};
		struct failure failure = {};
		int r = apply_request_parse(message, &request, &failure);

		if (r != cases[i].result)
			fail_msg("%s: %d (%s)", cases[i].text, r, failure.text);
		assert_int_equal(r < 0, failure.text[0] != '\0');
		if (i == 0)
			assert_string_equal(request.execution, ID);
		if (i == 2)
			assert_string_equal(request.reason, "r");
		apply_request_release(&request);
		json_decref(message);
	}
}

static void refuse_adopt(const char *text)
{
	json_t *message = load(text);
	struct adopt_request request = {};
	struct failure failure = {};

	assert_int_equal(adopt_request_parse(message, &request, &failure), -EINVAL);
	assert_null(request.executor);
	json_decref(message);
}

static void test_adopt(void **state)
{
	json_t *message = load("{\"op\":\"adopt\",\"pid\":17,\"executor\":\"autogen\"}");
	struct adopt_request request;

	(void)state;
	assert_int_equal(adopt_request_parse(message, &request, NULL), 0);
	assert_int_equal(request.pid, 17);
	assert_string_equal(request.executor, "autogen");
	adopt_request_release(&request);
	json_object_set_new(message, "executor", json_null());
	assert_int_equal(adopt_request_parse(message, &request, NULL), 0);
	assert_null(request.executor);
	json_decref(message);
	refuse_adopt("{\"op\":\"adopt\",\"pid\":0}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":-1}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":2147483648}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":\"1\"}");
	refuse_adopt("{\"op\":\"adopt\"}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":17,\"executor\":\"\"}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":17,\"executor\":3}");
	refuse_adopt("{\"op\":\"adopt\",\"pid\":17,\"more\":3}");
}

static void test_who(void **state)
{
	static const char *const bad[] = {
		"{\"op\":\"who\"}",
		"{\"op\":\"who\",\"pid\":0}",
		"{\"op\":\"who\",\"pid\":-1}",
		"{\"op\":\"who\",\"pid\":2147483648}",
		"{\"op\":\"who\",\"pid\":\"1\"}",
		"{\"op\":\"who\",\"cgroup\":-1}",
		"{\"op\":\"who\",\"pid\":1,\"cgroup\":1}",
		"{\"op\":\"who\",\"pid\":1,\"more\":1}",
	};
	json_t *message = load("{\"op\":\"who\",\"pid\":17}");
	struct who_request request;

	(void)state;
	assert_int_equal(who_request_parse(message, &request, NULL), 0);
	assert_int_equal(request.pid, 17);
	assert_int_equal(request.cgroup, 0);
	json_decref(message);
	message = load("{\"op\":\"who\",\"cgroup\":9007199254740993}");
	assert_int_equal(who_request_parse(message, &request, NULL), 0);
	assert_int_equal(request.pid, 0);
	assert_int_equal(request.cgroup, 9007199254740993);
	json_decref(message);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct failure failure = {};

		message = load(bad[i]);
		assert_int_equal(who_request_parse(message, &request, &failure), -EINVAL);
		json_decref(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who),    cmocka_unit_test(test_good),
		cmocka_unit_test(test_keys),   cmocka_unit_test(test_values),
		cmocka_unit_test(test_others), cmocka_unit_test(test_apply),
		cmocka_unit_test(test_adopt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
