/* SPDX-License-Identifier: Apache-2.0 */
/* Messages packed and unpacked, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <errno.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "control/message_codec.h"
#include "tests/unit/control/request_fixture.h"

static void assert_survives(json_t *message)
{
	_cleanup_(freep) char *data = NULL;
	json_t *again = NULL;
	size_t size;

	assert_int_equal(message_encode(message, &data, &size), 0);
	assert_int_equal(message_decode(data, size, &again), 0);
	assert_true(json_equal(message, again));
	json_decref(again);
	/* Cut anywhere, or with anything behind it, it is none. */
	for (size_t i = 0; i < size; i++)
		assert_int_equal(message_decode(data, i, &again), -EBADMSG);
	data = realloc(data, size + 1);
	data[size] = '\0';
	assert_int_equal(message_decode(data, size + 1, &again), -EBADMSG);
	json_decref(message);
}

static void test_roundtrip(void **state)
{
	(void)state;
	assert_survives(json_object());
	assert_survives(good_prepare());
	assert_survives(json_pack("{s:n,s:b,s:b,s:I,s:s,s:[s,n,[],{}]}", "null", "true", 1, "false",
				  0, "number", INT64_MIN, "text", "\xc3\xbc", "list", ""));
}

static void test_what_no_request_has(void **state)
{
	json_t *deep = json_object(), *real = json_pack("{s:f}", "x", 1.5);
	char *data;
	size_t size;

	(void)state;
	for (int i = 0; i < MESSAGE_CODEC_MAX_DEPTH; i++)
		deep = json_pack("{s:o}", "x", deep);
	assert_int_equal(message_encode(deep, &data, &size), -E2BIG);
	assert_int_equal(message_encode(real, &data, &size), -EINVAL);
	json_decref(deep);
	json_decref(real);
}

#define ASSERT_REFUSED(bytes)                                                                      \
	assert_int_equal(message_decode(bytes, sizeof(bytes) - 1, &message), -EBADMSG)

static void test_what_a_reader_must_not_say(void **state)
{
	json_t *message;

	(void)state;
	/* not an object */
	ASSERT_REFUSED("\x00");
	ASSERT_REFUSED("\x05\x00\x00\x00\x00");
	/* no such tag */
	ASSERT_REFUSED("\x07");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00k\xff");
	/* more than there is */
	ASSERT_REFUSED("\x06\xff\xff\xff\xff");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\xff\xff\xff\xffk");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00k\x04\xff\xff\xff\x7fx");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00k\x05\xff\xff\xff\xff");
	/* no UTF-8, in a key and in a text; a NUL in each */
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00\xff\x00");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00k\x04\x01\x00\x00\x00\xff");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00");
	ASSERT_REFUSED("\x06\x01\x00\x00\x00\x01\x00\x00\x00k\x04\x01\x00\x00\x00\x00");
	/* a key twice */
	ASSERT_REFUSED("\x06\x02\x00\x00\x00\x01\x00\x00\x00k\x00\x01\x00\x00\x00k\x00");
}

static void test_depth(void **state)
{
	char bytes[5 * 2 * MESSAGE_CODEC_MAX_DEPTH + 16] = "\x06\x01\x00\x00\x00\x01\x00\x00\x00k";
	size_t size = 10;
	json_t *message;

	(void)state;
	for (int i = 0; i < 2 * MESSAGE_CODEC_MAX_DEPTH; i++) {
		memcpy(bytes + size, "\x05\x01\x00\x00\x00", 5);
		size += 5;
	}
	bytes[size++] = 0;
	assert_int_equal(message_decode(bytes, size, &message), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roundtrip),
		cmocka_unit_test(test_what_no_request_has),
		cmocka_unit_test(test_what_a_reader_must_not_say),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests_name("daemon/test_message_codec", tests, NULL, NULL);
}
