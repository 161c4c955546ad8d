/* SPDX-License-Identifier: Apache-2.0 */
/* What a report is made of: each thing that was refused once, and how often. */
#include "daemon/execution/reported.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORD "{\"cordon\":{\"repeats\":%d},\"number\":%d}"

static struct reported reported;
static union {
	struct cordon_denial_event event;
	unsigned char bytes[sizeof(struct cordon_denial_event) + 64];
} made;

static int teardown(void **state)
{
	(void)state;
	reported_release(&reported);
	return reported.count;
}

/* Its record has the number of the call. */
static int add(const char *object, uint32_t repeats, size_t limit)
{
	static int number;
	struct buffer text = {};
	int r;

	made.event.object_length = made.event.object_total = (uint32_t)strlen(object);
	made.event.repeats = repeats;
	made.event.event.sequence++;
	memcpy(made.bytes + sizeof(made.event), object, strlen(object));
	buffer_print(&text, RECORD, (int)repeats, ++number);
	r = reported_add(&reported, &made.event, &text, limit);
	buffer_free(&text);
	return r;
}

static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.event.event.type = CORDON_EVENT_DENIAL;
	made.event.operation = CORDON_OP_OPEN;
}

static json_int_t repeats_of(size_t index)
{
	json_int_t repeats;
	json_t *record;

	assert_true(index < reported.count);
	record = reported_record(&reported, index);
	repeats = json_integer_value(json_object_get(json_object_get(record, "cordon"), "repeats"));
	json_decref(record);
	return repeats;
}

static void test_alike(void **state)
{
	(void)state;
	begin();
	assert_int_equal(add("/a", 0, 100), 1);
	assert_int_equal(add("/b", 5, 100), 1);
	assert_int_equal(add("/a", 0, 100), 0);
	assert_int_equal(add("/a", 7, 100), 0);
	assert_int_equal(add("/b", 0, 100), 0);
	assert_int_equal(reported.count, 2);
	assert_int_equal(repeats_of(0), 9);
	assert_int_equal(repeats_of(1), 6);
}

/* What differs is kept by itself: another right, rule, policy or kind, or a longer name. */
static void test_unlike(void **state)
{
	(void)state;
	begin();
	assert_int_equal(add("/a", 0, 100), 1);
	assert_int_equal(add("/ab", 0, 100), 1);
	made.event.rights = 1;
	assert_int_equal(add("/a", 0, 100), 1);
	made.event.rule = 3;
	assert_int_equal(add("/a", 0, 100), 1);
	made.event.event.policy = 9;
	assert_int_equal(add("/a", 0, 100), 1);
	made.event.event.type = CORDON_EVENT_ATTEMPT;
	assert_int_equal(add("/a", 0, 100), 1);
	/* Who asked, and when, makes no difference. */
	made.event.event.tgid = 77;
	made.event.event.time = 12345;
	assert_int_equal(add("/a", 0, 100), 0);
	assert_int_equal(reported.count, 6);
	assert_int_equal(repeats_of(5), 1);
	assert_int_equal(repeats_of(0), 0);
}

static void test_limit(void **state)
{
	char object[16];

	(void)state;
	begin();
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(object, sizeof(object), "/%u", i);
		assert_int_equal(add(object, 0, 200), i < 200);
	}
	assert_int_equal(reported.count, 200);
	/* Those that are known are counted still. */
	assert_int_equal(add("/199", 0, 200), 0);
	assert_int_equal(repeats_of(199), 1);
}

static void test_no_record(void **state)
{
	const struct buffer text = {.data = (char[]){"{"}, .size = 1};

	(void)state;
	begin();
	assert_int_equal(reported_add(&reported, &made.event, &text, 10), 1);
	assert_null(reported_record(&reported, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_alike, teardown),
		cmocka_unit_test_teardown(test_unlike, teardown),
		cmocka_unit_test_teardown(test_limit, teardown),
		cmocka_unit_test_teardown(test_no_record, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
