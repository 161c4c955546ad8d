/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What narrows rows: a condition for each part of a question that rows have a column for, and its
 * value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/ask/row_conditions.h"

static size_t ask(const struct audit_query *query, const char *expected,
		  struct row_parameter parameters[ROW_PARAMETERS_MAX])
{
	struct buffer sql = {};
	size_t count = row_conditions(query, &sql, parameters);

	buffer_add(&sql, "", 1);
	assert_string_equal(sql.data, expected);
	buffer_free(&sql);
	return count;
}

static void nothing(void **state)
{
	struct row_parameter parameters[ROW_PARAMETERS_MAX];

	(void)state;
	/* Rows have no column for these: the record itself is looked at. */
	assert_int_equal(ask(&(struct audit_query){.session = "s", .agent = "a", .text = "t"}, "",
			     parameters),
			 0);
}

static void each(void **state)
{
	struct row_parameter p[ROW_PARAMETERS_MAX];

	(void)state;
	assert_int_equal(ask(&(struct audit_query){.since = "1970-01-01T00:00:01.000000002Z",
						   .until = "1970-01-01T00:00:03.000000000Z"},
			     " AND r.time >= ?1 AND r.time <= ?2", p),
			 2);
	assert_int_equal(p[0].digit, '1');
	assert_int_equal(p[0].kind, ROW_TIME);
	assert_int_equal(p[0].time, 1000000002);
	assert_int_equal(p[1].time, 3000000000);
	assert_int_equal(ask(&(struct audit_query){.operation = "open", .action = "denial"},
			     " AND r.operation = ?5 AND r.action = ?6", p),
			 2);
	assert_int_equal(p[1].digit, '6');
	assert_int_equal(p[1].kind, ROW_TEXT);
	assert_string_equal(p[1].text, "denial");
	assert_int_equal(
		ask(&(struct audit_query){.execution = "01a2", .policy = "p"},
		    " AND r.execution != '' AND r.execution >= ?3 AND r.execution < ?3 || '~'"
		    " AND (r.policy = ?4 OR substr(r.digest, 1, length(substr(?4, 1, 16)))"
		    " = substr(?4, 1, 16))",
		    p),
		2);
	assert_int_equal(ask(&(struct audit_query){.sequence = 17}, " AND r.seq = 17", p), 0);
	assert_int_equal(ask(&(struct audit_query){.verdict = AUDIT_VERDICT_WOULD_DENY},
			     " AND r.action = 'would-deny'", p),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
