/* SPDX-License-Identifier: Apache-2.0 */
/* Events that wait for their turn: in order, of each no more than its share, and whose is next. */
#include "daemon/execution/backlog.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static struct backlogs all;
static struct backlog one, other;

static int setup(void **state)
{
	(void)state;
	all = (struct backlogs){};
	one = other = (struct backlog){};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	backlog_free(&all, &one);
	backlog_free(&all, &other);
	return all.size == 0 && !backlogs_next(&all) ? 0 : -1;
}

static void add(struct backlog *backlog, unsigned int number, size_t size)
{
	char event[4096];

	memset(event, (int)number, sizeof(event));
	assert_int_equal(backlog_add(&all, backlog, event, size), 0);
}

static void expect(struct backlog *backlog, unsigned int number, size_t size)
{
	size_t found;
	const unsigned char *event = backlog_first(backlog, &found);

	assert_non_null(event);
	assert_int_equal(found, size);
	assert_int_equal(event[0], number);
	assert_int_equal(event[size - 1], number);
	backlog_drop_first(&all, backlog);
}

static void test_order(void **state)
{
	size_t size;

	(void)state;
	assert_true(backlog_is_empty(&one));
	assert_null(backlog_first(&one, &size));
	assert_null(backlogs_next(&all));
	for (unsigned int i = 0; i < 100; i++)
		add(&one, i, 1 + 37 * i);
	assert_ptr_equal(backlogs_next(&all), &one);
	for (unsigned int i = 0; i < 100; i++)
		expect(&one, i, 1 + 37 * i);
	assert_true(backlog_is_empty(&one));
	assert_null(backlogs_next(&all));
	assert_int_equal(all.size, 0);
}

/* Room at the front is used again: what is there longest does not grow what is kept. */
static void test_room_is_used_again(void **state)
{
	(void)state;
	add(&one, 0, 1000);
	for (unsigned int i = 1; i < 1000; i++) {
		add(&one, i & 0xff, 1000);
		expect(&one, (i - 1) & 0xff, 1000);
	}
	assert_true(one.capacity <= 16 * 1024);
	expect(&one, 999 & 0xff, 1000);
}

static void test_turns(void **state)
{
	(void)state;
	add(&one, 1, 8);
	add(&other, 2, 8);
	add(&one, 3, 8);
	assert_ptr_equal(backlogs_next(&all), &one);
	backlogs_rotate(&all, &one);
	assert_ptr_equal(backlogs_next(&all), &other);
	backlogs_rotate(&all, &other);
	assert_ptr_equal(backlogs_next(&all), &one);
	backlog_free(&all, &one);
	assert_ptr_equal(backlogs_next(&all), &other);
	expect(&other, 2, 8);
	assert_null(backlogs_next(&all));
}

static unsigned int fill(struct backlog *backlog)
{
	const char event[4096] = {};
	unsigned int count = 0;

	while (backlog_add(&all, backlog, event, sizeof(event)) == 0)
		count++;
	return count;
}

/* So that what is lost is one hole, and not one in every few events. */
static void test_full_until_half_empty(void **state)
{
	const char event[4096] = {};
	unsigned int count;

	(void)state;
	count = fill(&one);
	assert_in_range(count, 1000, 1024);
	assert_int_equal(backlog_add(&all, &one, event, 1), -ENOBUFS);
	for (unsigned int i = 0; i < count / 2 - 10; i++)
		backlog_drop_first(&all, &one);
	assert_int_equal(backlog_add(&all, &one, event, 1), -ENOBUFS);
	for (unsigned int i = 0; i < 20; i++)
		backlog_drop_first(&all, &one);
	assert_int_equal(backlog_add(&all, &one, event, 1), 0);
	assert_false(one.losing);
	/* Nobody else is kept out by it. */
	add(&other, 1, 4096);
}

static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(backlog_limit(0), 4 * MIB);
	assert_int_equal(backlog_limit(48 * MIB), 4 * MIB);
	assert_int_equal(backlog_limit(60 * MIB), 1 * MIB);
	/* Whoever comes when all is taken has room for a few. */
	assert_int_equal(backlog_limit(64 * MIB), 8 * 1024);
	assert_int_equal(backlog_limit(1000 * MIB), 8 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room_is_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_until_half_empty, setup, teardown),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
