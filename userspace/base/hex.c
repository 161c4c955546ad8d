/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

#include <errno.h>
#include <string.h>

void hex_encode(const void *data, size_t size, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
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
