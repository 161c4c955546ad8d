/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about approvals: what is right, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "control/decide_request.h"

static json_t *good(void)
{
	return json_pack("{s:s,s:s,s:s,s:n,s:s,s:i}", "op", "decide", "decision", "approve",
			 "digest", "0123456789abcdef", "policy", "reason", "why", "expires", 0);
}

static void test_good(void **state)
{
	struct decide_request request;
	struct failure failure = {};
	json_t *message = good();

	(void)state;
	assert_int_equal(decide_request_parse(message, &request, &failure), 0);
	assert_int_equal(request.decision, AUDIT_APPROVAL_GRANTED);
	assert_string_equal(request.digest, "0123456789abcdef");
	assert_string_equal(request.reason, "why");
	decide_request_release(&request);
	json_object_set_new(message, "digest", json_null());
	json_object_set_new(message, "policy", json_string("tight"));
	json_object_set_new(message, "expires", json_integer(5));
	assert_int_equal(decide_request_parse(message, &request, &failure), 0);
	assert_string_equal(request.policy, "tight");
	assert_int_equal(request.expires, 5);
	decide_request_release(&request);
	json_decref(message);
}

static void test_refused(void **state)
{
	static const struct {
		const char *key, *json, *says;
	} cases[] = {
		{"decision", "\"allow\"", "unknown decision"},
		{"decision", "5", "malformed"},
		{"digest", "null", "must be there"},
		{"digest", "\"0123\"", "8 to 64"},
		{"digest", "\"0123456789abcdeg\"", "8 to 64"},
		{"digest", "7", "must be a text"},
		{"policy", "\"tight\"", "must be there"},
		{"reason", "\"\"", "1 to"},
		{"reason", "null", "malformed"},
		{"expires", "-1", "not negative"},
		{"more", "1", "malformed"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *message = good();
		struct decide_request request;
		struct failure failure = {};

		json_object_set_new(message, cases[i].key,
				    json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
		assert_int_equal(decide_request_parse(message, &request, &failure), -EINVAL);
		if (!strstr(failure.text, cases[i].says))
			fail_msg("%s: %s", cases[i].json, failure.text);
		json_decref(message);
	}
}

/* Only an approval may be made ahead, or for a time. */
static void test_revocations(void **state)
{
	json_t *message = good();
	struct decide_request request;
	struct failure failure = {};

	(void)state;
	json_object_set_new(message, "decision", json_string("revoke"));
	assert_int_equal(decide_request_parse(message, &request, &failure), 0);
	decide_request_release(&request);
	json_object_set_new(message, "expires", json_integer(1));
	assert_int_equal(decide_request_parse(message, &request, &failure), -EINVAL);
	json_object_set_new(message, "expires", json_integer(0));
	json_object_set_new(message, "digest", json_null());
	json_object_set_new(message, "policy", json_string("tight"));
	assert_int_equal(decide_request_parse(message, &request, &failure), -EINVAL);
	json_decref(message);
}

static json_t *good_proposal(void)
{
	return json_pack("{s:s,s:s,s:s,s:i}", "op", "propose", "execution", "01a200d6-0593", "for",
			 "session", "expires", 5);
}

static void test_proposal(void **state)
{
	static const struct {
		const char *key, *json, *says;
	} cases[] = {
		{"execution", "null", "malformed"},
		{"execution", "\"01a200d\"", "must be an id"},
		{"execution", "\"01a200d6-0593-7d12-b4c9-af794e74c0c00\"", "must be an id"},
		{"execution", "\"../../etc\"", "must be an id"},
		{"for", "\"everybody\"", "is execution"},
		{"for", "1", "malformed"},
		{"expires", "0", "must be a time"},
		{"expires", "-1", "must be a time"},
		{"rules", "[]", "malformed"},
		{"policy", "\"observe\"", "malformed"},
	};
	struct propose_request request;
	struct failure failure = {};
	json_t *message = good_proposal();

	(void)state;
	assert_int_equal(propose_request_parse(message, &request, &failure), 0);
	assert_string_equal(request.execution, "01a200d6-0593");
	assert_int_equal(request.scope, PROPOSE_SESSION);
	assert_int_equal(request.expires, 5);
	json_decref(message);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		failure = (struct failure){};
		message = good_proposal();
		json_object_set_new(message, cases[i].key,
				    json_loads(cases[i].json, JSON_DECODE_ANY, NULL));
		assert_int_equal(propose_request_parse(message, &request, &failure), -EINVAL);
		assert_non_null(strstr(failure.text, cases[i].says));
		json_decref(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_proposal),
		cmocka_unit_test(test_revocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
