/* SPDX-License-Identifier: Apache-2.0 */
/* Names of any bytes as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <openssl/evp.h>

#include "audit/record/record.h"
#include "audit/text/text.h"

static void test_validity(void **state)
{
	/* From Markus Kuhn's UTF-8 decoder stress test. */
	static const char *const good[] = {
		"",
		"a",
		"\xc2\x80",
		"\xdf\xbf",
		"\xe0\xa0\x80",
		"\xed\x9f\xbf",
		"\xee\x80\x80",
		"\xef\xbf\xbf",
		"\xf0\x90\x80\x80",
		"\xf4\x8f\xbf\xbf",
	};
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\xaf",
		"\xc1\xbf",
		"\xc2",
		"\xe0\x80\xaf",
		"\xe0\x9f\xbf",
		"\xe2\x82",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x80\x80\xaf",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xfe",
		"\xff",
		"\xe2\x28\xa1",
		"\xf0\x9f\x92",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(text_is_valid(good[i], strlen(good[i])));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(text_is_valid(bad[i], strlen(bad[i])));
	assert_false(text_is_valid("a\0b", 3));
}

static void test_harmless(void **state)
{
	static const uint32_t harmful[] = {0,	   0x1b,   0x7f,   0x9b,   0xad,   0x200b,  0x200e,
					   0x202e, 0x2028, 0x2066, 0x2069, 0xfeff, 0xe0041, 0x61c};
	static const uint32_t harmless[] = {' ', '~', 0xa0, 0xe4, 0x3b1, 0x5d0, 0x4e2d, 0x1f600};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(harmful); i++)
		assert_false(text_is_harmless(harmful[i]));
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		assert_true(text_is_harmless(harmless[i]));
}

static void test_set(void **state)
{
	_cleanup_(json_decrefp) json_t *object = json_object();
	char big[TEXT_MAX + 100];

	(void)state;
	assert_int_equal(text_set(object, "a", "gr\xc3\xbc\xc3\x9f", 6), 0);
	assert_string_equal(json_string_value(json_object_get(object, "a")), "gr\xc3\xbc\xc3\x9f");
	assert_null(json_object_get(object, "a_base64"));
	assert_int_equal(text_set(object, "b", "x\0\xff", 3), 0);
	assert_string_equal(json_string_value(json_object_get(object, "b")),
			    "x\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(json_string_value(json_object_get(object, "b_base64")), "eAD/");
	assert_int_equal(text_set_string(object, "c", NULL), 0);
	assert_true(json_is_null(json_object_get(object, "c")));
	/* Cut between characters, and said so. */
	memset(big, 'a', sizeof(big));
	memcpy(big + TEXT_MAX - 1, "\xe2\x82\xac", 3);
	assert_int_equal(text_set(object, "d", big, sizeof(big)), 0);
	assert_int_equal(json_string_length(json_object_get(object, "d")), TEXT_MAX - 1);
	assert_int_equal(json_integer_value(json_object_get(object, "d_length")), sizeof(big));
	assert_null(json_object_get(object, "d_base64"));
}

static void test_list(void **state)
{
	const char *strings[] = {"a", NULL, "\xff", ""};
	const char *many[2 * TEXT_LIST_MAX];
	_cleanup_(json_decrefp) json_t *object = json_object();

	(void)state;
	assert_int_equal(text_set_list(object, "l", 4, strings), 0);
	assert_int_equal(json_array_size(json_object_get(object, "l")), 4);
	assert_true(json_is_null(json_array_get(json_object_get(object, "l"), 1)));
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(object, "l_base64"), 2)), "/w==");
	assert_true(json_is_null(json_array_get(json_object_get(object, "l_base64"), 0)));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = "";
	assert_int_equal(text_set_list(object, "m", ARRAY_SIZE(many), many), 0);
	assert_int_equal(json_array_size(json_object_get(object, "m")) +
				 (size_t)json_integer_value(json_object_get(object, "m_omitted")),
			 ARRAY_SIZE(many));
	assert_true(json_array_size(json_object_get(object, "m")) <= TEXT_LIST_MAX / 4);
}

/* The same as libcrypto says, for every remainder. */
static void test_base64(void **state)
{
	unsigned char bytes[64], expected[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 37 + 200);
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		_cleanup_(json_decrefp) json_t *text = text_base64((const char *)bytes, size);

		expected[0] = '\0';
		EVP_EncodeBlock(expected, bytes, (int)size);
		assert_string_equal(json_string_value(text), (const char *)expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_validity), cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_set),	 cmocka_unit_test(test_list),
		cmocka_unit_test(test_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
