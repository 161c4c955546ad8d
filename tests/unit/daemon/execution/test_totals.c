/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/record/names.h"
#include "daemon/execution/execution.h"

static json_int_t number(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static json_int_t ended(const json_t *json, enum audit_end_cause cause)
{
	return number(json_object_get(json, "ended"), name_of_end_cause(cause));
}

static void test_ends_and_gaps_add_up(void **state)
{
	const struct audit_end end = {.cause = AUDIT_END_DENIALS,
				      .denials = 3,
				      .events = 10,
				      .coalesced = 2,
				      .limited = 1};
	const struct audit_end other = {.cause = AUDIT_END_NOT_STARTED, .would_denials = 4};
	struct totals totals = {.attempts = 8};
	json_t *json;

	(void)state;
	totals_add_end(&totals, &end);
	totals_add_end(&totals, &end);
	totals_add_end(&totals, &other);
	/* 6, 7 and 8; and none: a gap may have no number in it. */
	totals_add_gap(&totals, 5, 9);
	totals_add_gap(&totals, 9, 10);
	json = totals_json(&totals);
	assert_int_equal(number(json, "denials"), 6);
	assert_int_equal(number(json, "would_denials"), 4);
	assert_int_equal(number(json, "attempts"), 8);
	assert_int_equal(number(json, "events"), 20);
	assert_int_equal(number(json, "coalesced"), 4);
	assert_int_equal(number(json, "limited"), 2);
	assert_int_equal(number(json, "gaps"), 2);
	assert_int_equal(number(json, "missing_events"), 3);
	assert_int_equal(ended(json, AUDIT_END_DENIALS), 2);
	assert_int_equal(ended(json, AUDIT_END_NOT_STARTED), 1);
	assert_int_equal(ended(json, AUDIT_END_EXITED), 0);
	assert_int_equal(json_object_size(json_object_get(json, "ended")), TOTALS_CAUSES);
	json_decref(json);
}

/* What is counted while an execution lives is not lost, and not counted twice, when it ends. */
static void test_never_less_and_never_twice(void **state)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	const struct cordon_execution view = {.denials = 5, .emitted = 7};
	struct execution e = {.state = EXECUTION_LIVE, .view = &view};
	const struct audit_end end = {.cause = AUDIT_END_EXITED, .denials = 5, .events = 7};
	json_t *json;

	(void)state;
	assert_non_null(daemon);
	daemon->by_slot[3] = &e;
	for (int i = 0; i < 3; i++) {
		json = execution_totals_json(daemon);
		assert_int_equal(number(json, "denials"), 5);
		assert_int_equal(number(json, "events"), 7);
		assert_int_equal(ended(json, AUDIT_END_EXITED), i > 0);
		json_decref(json);
		if (i == 0) {
			totals_add_end(&daemon->totals, &end);
			e.state = EXECUTION_FINISHED;
		} else {
			daemon->by_slot[3] = NULL;
		}
	}
	free(daemon);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_and_gaps_add_up),
		cmocka_unit_test(test_never_less_and_never_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
