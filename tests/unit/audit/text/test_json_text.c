/* SPDX-License-Identifier: Apache-2.0 */
/* What is written straight says the same as jansson does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/text/json_text.h"
#include "audit/text/text.h"
#include "base/clock.h"
#include "base/hex.h"

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* Text of every kind: plain, to be escaped, of several bytes, and no text at all. */
static size_t make_text(char *to, size_t limit)
{
	static const char *const pieces[] = {
		"plain text ",
		"\"",
		"\\",
		"\n",
		"\t",
		"\x1b[31m",
		"\x7f",
		"\xc3\xa9",
		"\xe2\x80\xae",
		"\xf0\x9f\x98\x80",
		"\xff",
		"\xc0\x80",
		"\xed\xa0\x80",
		"\xe2\x80",
		"/usr/lib/python3/dist-packages/",
	};
	size_t size = 0;

	while (any(12) != 0) {
		const char *piece = pieces[any(sizeof(pieces) / sizeof(pieces[0]))];
		size_t length = strlen(piece);

		if (any(20) == 0)
			to[size++] = (char)any(256);
		if (size + length + 1 >= limit)
			break;
		memcpy(to + size, piece, length);
		size += length;
	}
	return size;
}

static void compare(struct buffer *out, json_t *expected)
{
	json_t *got;

	buffer_literal(out, "}");
	assert_false(out->failed);
	for (size_t i = 0; i < out->size; i++)
		assert_in_range((unsigned char)out->data[i], 0x20, 0x7e);
	got = json_loadb(out->data, out->size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	assert_non_null(got);
	assert_true(json_equal(got, expected));
	json_decref(got);
	json_decref(expected);
	out->size = 0;
}

static void test_members(void **state)
{
	struct buffer out = {};
	static char text[3 * TEXT_MAX];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t size = make_text(text, sizeof(text));
		json_t *expected = json_object();

		/* Now and then longer than what is kept, cut anywhere. */
		if (round % 500 == 0) {
			size_t more = TEXT_MAX + any(10);

			for (size_t i = size; i < more; i++)
				text[i] = text[size ? i % size : 0];
			size = more;
		}
		assert_int_equal(text_set(expected, "key", text, size), 0);
		buffer_literal(&out, "{");
		json_text_member(&out, "key", text, size);
		compare(&out, expected);
	}
	buffer_literal(&out, "{");
	json_text_member_string(&out, "nothing", NULL);
	compare(&out, json_pack("{s:n}", "nothing"));
	buffer_free(&out);
}

static void test_lists(void **state)
{
	static char texts[40][2048];
	const char *strings[40];
	struct buffer out = {};

	(void)state;
	for (int round = 0; round < 3000; round++) {
		json_t *expected = json_object();
		size_t count = any(40);

		for (size_t i = 0; i < count; i++) {
			size_t size = make_text(texts[i], sizeof(texts[i]));

			texts[i][size] = '\0';
			strings[i] = any(8) == 0 ? NULL : texts[i];
		}
		if (round % 100 == 0 && count > 0) {
			memset(texts[0], 'x', sizeof(texts[0]) - 1);
			for (size_t i = 0; i < count; i++)
				strings[i] = texts[0];
		}
		assert_int_equal(text_set_list(expected, "list", count, strings), 0);
		buffer_literal(&out, "{");
		json_text_member_list(&out, "list", count, strings);
		compare(&out, expected);
	}
	buffer_free(&out);
}

static void test_numbers(void **state)
{
	static const uint64_t numbers[] = {
		0, 1, 9, 10, 99, 100, 101, 999, 1000, 4294967295u, UINT64_MAX, INT64_MAX,
	};
	struct buffer out = {};
	char expected[32];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		out.size = 0;
		buffer_number(&out, numbers[i]);
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)numbers[i]);
		assert_int_equal(out.size, strlen(expected));
		assert_memory_equal(out.data, expected, out.size);
	}
	buffer_free(&out);
}

static void test_hex(void **state)
{
	unsigned char bytes[256], back[256];
	char text[513], one[3];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		hex_encode(bytes, size, text);
		assert_int_equal(strlen(text), 2 * size);
		for (size_t i = 0; i < size; i++) {
			snprintf(one, sizeof(one), "%02x", bytes[i]);
			assert_memory_equal(text + 2 * i, one, 2);
		}
		assert_int_equal(hex_decode(text, back, size), 0);
		assert_memory_equal(back, bytes, size);
	}
}

static void test_times(void **state)
{
	char text[CLOCK_TEXT_SIZE], expected[64];

	(void)state;
	for (int round = 0; round < 50000; round++) {
		uint64_t time = ((uint64_t)any(UINT32_MAX) << 31 | any(UINT32_MAX)) * 2, back;
		time_t seconds = (time_t)(time / NSEC_PER_SEC);
		struct tm parts;
		size_t length;

		gmtime_r(&seconds, &parts);
		length = strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &parts);
		snprintf(expected + length, sizeof(expected) - length, ".%09uZ",
			 (unsigned int)(time % NSEC_PER_SEC));
		clock_format(time, text);
		assert_string_equal(text, expected);
		assert_int_equal(clock_parse(text, &back), 0);
		assert_true(back == time);
	}
	assert_int_equal(clock_parse("2026-11-21 00:00:00.000000000Z", &(uint64_t){0}), -EINVAL);
	assert_int_equal(clock_parse("2026", &(uint64_t){0}), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_hex),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
