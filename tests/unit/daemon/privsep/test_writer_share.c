/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a source may have waiting is never told as less than it is, and is forgotten when it is
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/privsep/writer_share.h"

#define ADDED 100u

struct queue {
	uint64_t confirmed;
	size_t size;
};

static void add(struct queue *queue, struct writer_share *share, unsigned int bytes)
{
	queue->size += bytes;
	if (share)
		writer_share_add(share, queue->confirmed + queue->size, bytes);
}

static void confirm(struct queue *queue, size_t bytes)
{
	queue->confirmed += bytes;
	queue->size -= bytes;
}

static size_t waiting(const struct queue *queue, struct writer_share *share)
{
	return writer_share_waiting(share, queue->confirmed, queue->size);
}

static void test_alone(void **state)
{
	struct queue queue = {};
	struct writer_share share = {};

	(void)state;
	assert_int_equal(waiting(&queue, &share), 0);
	for (unsigned int i = 1; i <= 10; i++) {
		add(&queue, &share, ADDED);
		assert_int_equal(waiting(&queue, &share), i * ADDED);
	}
	confirm(&queue, queue.size);
	assert_int_equal(waiting(&queue, &share), 0);
}

/* One that always has something waiting is not charged for all that it ever added. */
static void test_steady(void **state)
{
	struct queue queue = {};
	struct writer_share share = {};

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		add(&queue, &share, ADDED);
		assert_in_range(waiting(&queue, &share), ADDED, 5 * ADDED);
		if (i > 0)
			confirm(&queue, ADDED);
	}
}

static void test_among_others(void **state)
{
	struct queue queue = {};
	struct writer_share share = {}, other = {};

	(void)state;
	add(&queue, &other, 50 * ADDED);
	add(&queue, &share, ADDED);
	add(&queue, NULL, 50 * ADDED);
	assert_int_equal(waiting(&queue, &share), ADDED);
	confirm(&queue, 50 * ADDED);
	assert_int_equal(waiting(&queue, &share), ADDED);
	assert_int_equal(waiting(&queue, &other), 0);
	confirm(&queue, ADDED);
	assert_int_equal(waiting(&queue, &share), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_among_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
