/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes lower-case hexadecimal. */
#include "base/hex.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/*
 * Returns the eight digits of four bytes, the first in the lowest byte. Each nibble is first moved
 * to a separate byte.
 */
static uint64_t digits_of(uint32_t four)
{
	uint64_t x = four;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = (x >> 4 & 0x000f000f000f000full) | (x & 0x000f000f000f000full) << 8;
	/* Add the distance to the letters where a nibble is 10 or more. */
	return x + 0x3030303030303030ull +
	       (((x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull) * ('a' - '0' - 10));
}

void hex_encode(const void *data, size_t size, char *text)
{
	const unsigned char *bytes = data;
	uint64_t digits;
	size_t i = 0;

	for (; size - i >= 4; i += 4) {
		uint32_t four;

		memcpy(&four, bytes + i, 4);
		digits = htole64(digits_of(le32toh(four)));
		memcpy(text + 2 * i, &digits, 8);
	}
	for (; i < size; i++) {
		digits = htole64(digits_of(bytes[i]));
		memcpy(text + 2 * i, &digits, 2);
	}
	text[2 * size] = '\0';
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -EINVAL;
}

int hex_decode(const char *text, void *data, size_t size)
{
	unsigned char *bytes = data;

	if (strlen(text) != 2 * size)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		int high = digit_value(text[2 * i]);
		int low = digit_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EINVAL;
		bytes[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}
