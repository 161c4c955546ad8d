/* SPDX-License-Identifier: Apache-2.0 */
/* Records that share what is equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "insight/text/share.h"

static json_t *record_of(int seq, const char *path)
{
	return json_pack("{s:i, s:{s:s, s:{s:s, s:[s, s]}}, s:{s:s}}", "seq", seq, "cordon",
			 "operation", "open", "policy", "name", "p", "rights", "read", "write",
			 "file", "path", path);
}

/* Says the same as before, and what is equal is one value. */
static void test_equal_is_one(void **state)
{
	_cleanup_(share_freep) struct share *share = share_new();
	json_t *a = record_of(1, "/a"), *b = record_of(2, "/b"), *plain = record_of(2, "/b");

	(void)state;
	assert_non_null(share);
	share_record(share, a);
	share_record(share, b);
	assert_true(json_equal(b, plain));
	assert_ptr_equal(json_object_get(a, "cordon"), json_object_get(b, "cordon"));
	assert_ptr_not_equal(json_object_get(a, "file"), json_object_get(b, "file"));
	assert_ptr_not_equal(json_object_get(a, "seq"), json_object_get(b, "seq"));
	json_decref(a);
	/* It outlives the record that had it first. */
	assert_true(json_equal(b, plain));
	json_decref(b);
	json_decref(plain);
}

/* More values than are kept: each record still says its own. */
static void test_many(void **state)
{
	_cleanup_(share_freep) struct share *share = share_new();
	char path[32];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		json_t *record, *plain;

		snprintf(path, sizeof(path), "/x/%d", i % 50000);
		record = record_of(i, path);
		share_record(share, record);
		if (i % 97 == 0) {
			plain = record_of(i, path);
			assert_true(json_equal(record, plain));
			json_decref(plain);
		}
		json_decref(record);
	}
}

/* A number, a text and a list of the same bytes are not equal. */
static void test_kinds_differ(void **state)
{
	_cleanup_(share_freep) struct share *share = share_new();
	json_t *record = json_pack("{s:s, s:[s], s:i, s:{}, s:[], s:n, s:b}", "a", "1", "b", "1",
				   "c", 1, "d", "e", "f", "g", 1);
	json_t *plain = json_deep_copy(record);

	(void)state;
	share_record(share, record);
	assert_true(json_equal(record, plain));
	assert_ptr_equal(json_object_get(record, "a"),
			 json_array_get(json_object_get(record, "b"), 0));
	json_decref(record);
	json_decref(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_is_one),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_kinds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
