/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that leave their chain values out come back byte for byte, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/storage/chain.h"
#include "audit/storage/unchained.h"
#include "base/cleanup.h"

#define LINES 40u
#define LIMIT (1u << 20)

static const unsigned char before[SHA256_SIZE] = {7, 8, 9};

/* Lines that follow from `before`. */
static void make(struct buffer *lines)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	unsigned char chain[SHA256_SIZE];
	char tail[CHAIN_TAIL_SIZE], body[128];

	memcpy(chain, before, sizeof(chain));
	for (unsigned int i = 0; i < LINES; i++) {
		int size = snprintf(body, sizeof(body), "{\"seq\":%u,\"a\":{\"b\":\"%u}\"}", i + 10,
				    i * i);

		assert_int_equal(chain_digest(hash, chain, body, (size_t)size, chain), 0);
		chain_write_tail(chain, tail);
		buffer_add(lines, body, (size_t)size);
		buffer_add(lines, tail, sizeof(tail));
	}
	assert_false(lines->failed);
}

struct made {
	struct buffer lines, text;
	unsigned char last[SHA256_SIZE];
};

static int setup(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	make(&made->lines);
	assert_int_equal(unchained_strip(&made->lines, before, &made->text, made->last), 0);
	*state = made;
	return 0;
}

static int teardown(void **state)
{
	struct made *made = *state;

	buffer_free(&made->lines);
	buffer_free(&made->text);
	free(made);
	return 0;
}

static void there_and_back(void **state)
{
	const struct made *made = *state;
	struct buffer again = {};

	assert_int_equal(made->text.size,
			 made->lines.size - LINES * (CHAIN_TAIL_SIZE - strlen("}\n")));
	assert_null(memmem(made->text.data, made->text.size, "chain", 5));
	assert_int_equal(unchained_restore(made->text.data, made->text.size, before, made->last,
					   LIMIT, &again),
			 0);
	assert_int_equal(again.size, made->lines.size);
	assert_memory_equal(again.data, made->lines.data, again.size);
	buffer_free(&again);
}

/* Whichever byte is another one, they are not the lines that the last value speaks of. */
static void any_change_shows(void **state)
{
	struct made *made = *state;
	unsigned char other[SHA256_SIZE];
	struct buffer again = {};

	for (size_t i = 0; i < made->text.size; i++) {
		made->text.data[i] ^= 1;
		assert_int_equal(unchained_restore(made->text.data, made->text.size, before,
						   made->last, LIMIT, &again),
				 -EBADMSG);
		made->text.data[i] ^= 1;
	}
	memcpy(other, before, sizeof(other));
	other[31] ^= 1;
	assert_int_equal(unchained_restore(made->text.data, made->text.size, other, made->last,
					   LIMIT, &again),
			 -EBADMSG);
	assert_int_equal(unchained_restore(made->text.data, made->text.size - 1, before, made->last,
					   LIMIT, &again),
			 -EBADMSG);
	assert_int_equal(unchained_restore(made->text.data, made->text.size, before, made->last,
					   made->lines.size - 1, &again),
			 -EFBIG);
	assert_null(again.data);
}

/* Such lines go as they are. */
static void what_does_not_follow(void **state)
{
	struct made *made = *state;
	unsigned char last[SHA256_SIZE], other[SHA256_SIZE] = {1};
	struct buffer text = {};

	assert_int_equal(unchained_strip(&made->lines, other, &text, last), -EBADMSG);
	made->lines.data[8] ^= 1;
	assert_int_equal(unchained_strip(&made->lines, before, &text, last), -EBADMSG);
	made->lines.data[8] ^= 1;
	made->lines.size--;
	assert_int_equal(unchained_strip(&made->lines, before, &text, last), -EBADMSG);
	buffer_free(&text);
}

static void as_text(void **state)
{
	const struct made *made = *state;
	unsigned char first[SHA256_SIZE], last[SHA256_SIZE];
	char text[UNCHAINED_TEXT_SIZE];

	unchained_format(before, made->last, text);
	assert_int_equal(strlen(text), UNCHAINED_TEXT_SIZE - 1);
	assert_int_equal(unchained_parse(text, first, last), 0);
	assert_memory_equal(first, before, sizeof(first));
	assert_memory_equal(last, made->last, sizeof(last));
	text[64] = '+';
	assert_int_equal(unchained_parse(text, first, last), -EINVAL);
	text[64] = '-';
	text[70] = 'g';
	assert_int_equal(unchained_parse(text, first, last), -EINVAL);
	text[70] = '\0';
	assert_int_equal(unchained_parse(text, first, last), -EINVAL);
	assert_int_equal(unchained_parse("", first, last), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(any_change_shows, setup, teardown),
		cmocka_unit_test_setup_teardown(what_does_not_follow, setup, teardown),
		cmocka_unit_test_setup_teardown(as_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
