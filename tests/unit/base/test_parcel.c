/* SPDX-License-Identifier: Apache-2.0 */
/* What was put in comes out, and what nobody puts in is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/parcel.h"

static void free_list(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

/* Three texts, a list of three of which one is NULL, an empty list, none, and a number. */
static size_t pack(char **ret_data)
{
	char *const list[] = {(char *)"a", NULL, (char *)"ccc"};
	const uint64_t number = 77;
	size_t size;
	FILE *to = open_memstream(ret_data, &size);

	assert_non_null(to);
	parcel_put_text(to, "text");
	parcel_put_text(to, "");
	parcel_put_text(to, NULL);
	parcel_put_list(to, list, 3);
	parcel_put_list(to, list, 0);
	parcel_put_list(to, NULL, 0);
	(void)fwrite(&number, sizeof(number), 1, to);
	assert_int_equal(fclose(to), 0);
	return size;
}

static int unpack(const char *data, size_t size, bool look)
{
	char *texts[3] = {}, **lists[3] = {};
	struct parcel from = {data, size};
	const void *number = NULL;
	size_t counts[3] = {};
	int r = 0;

	for (size_t i = 0; r == 0 && i < 3; i++)
		r = parcel_take_text(&from, &texts[i]);
	for (size_t i = 0; r == 0 && i < 3; i++)
		r = parcel_take_list(&from, &lists[i], &counts[i]);
	if (r == 0)
		number = parcel_take(&from, sizeof(uint64_t));
	if (r == 0 && !number)
		r = -EPROTO;
	if (look) {
		assert_int_equal(r, 0);
		assert_string_equal(texts[0], "text");
		assert_string_equal(texts[1], "");
		assert_null(texts[2]);
		assert_int_equal(counts[0], 3);
		if (!lists[0] || !lists[1])
			abort();
		assert_string_equal(lists[0][0], "a");
		assert_null(lists[0][1]);
		assert_string_equal(lists[0][2], "ccc");
		assert_null(lists[0][3]);
		assert_int_equal(counts[1], 0);
		assert_null(lists[1][0]);
		assert_null(lists[2]);
		assert_int_equal(from.left, 0);
	}
	for (size_t i = 0; i < 3; i++) {
		free(texts[i]);
		free_list(lists[i], counts[i]);
	}
	return r;
}

static void test_there_and_back(void **state)
{
	_cleanup_(freep) char *data = NULL;

	size_t size = pack(&data);

	(void)state;
	(void)unpack(data, size, true);
}

static void test_cut_anywhere(void **state)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = pack(&data);

	(void)state;
	for (size_t left = 0; left < size; left++) {
		_cleanup_(freep) char *part = malloc(left + 1);

		assert_non_null(part);
		memcpy(part, data, left);
		assert_int_equal(unpack(part, left, false), -EPROTO);
	}
}

/*
 * Any byte of it set to anything: refused, or something else is read, and nothing beyond its end.
 */
static void test_damaged(void **state)
{
	_cleanup_(freep) char *data = NULL;
	size_t size = pack(&data);
	unsigned int refused = 0;

	(void)state;
	for (size_t i = 0; i < size; i++)
		for (int value = 0; value < 256; value += 5) {
			char before = data[i];

			data[i] = (char)value;
			refused += unpack(data, size, false) < 0;
			data[i] = before;
		}
	assert_true(refused > 0);
}

static void test_no_such_size(void **state)
{
	const uint32_t sizes[] = {UINT32_MAX, 0};
	struct parcel text = {(const char *)sizes, sizeof(sizes)}, list = text;
	const char open_end[] = {2, 0, 0, 0, 'a', 'b'}, two_ends[] = {3, 0, 0, 0, 'a', 0, 0};
	struct parcel open = {open_end, sizeof(open_end)}, two = {two_ends, sizeof(two_ends)};
	char *found = NULL, **found_list;
	size_t count;

	(void)state;
	assert_int_equal(parcel_take_text(&text, &found), -EPROTO);
	assert_int_equal(parcel_take_list(&list, &found_list, &count), -EPROTO);
	assert_int_equal(count, 0);
	assert_int_equal(parcel_take_text(&open, &found), -EPROTO);
	assert_int_equal(parcel_take_text(&two, &found), -EPROTO);
	assert_null(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_no_such_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
