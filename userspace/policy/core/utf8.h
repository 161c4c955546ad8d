/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one character of UTF-8 at a time, strictly. */
#ifndef CORDON_POLICY_UTF8_H
#define CORDON_POLICY_UTF8_H

#include <stddef.h>

/*
 * Length (1 to 4) of the well-formed UTF-8 sequence (Unicode, table 3-7) at the start of `text`. 0:
 * malformed or incomplete, or size is 0.
 */
static inline size_t utf8_length(const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	size_t length;

	if (size == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		length = 2;
	} else if (s[0] >= 0xe0 && s[0] <= 0xef) {
		length = 3;
		if (s[0] == 0xe0)
			low = 0xa0;
		if (s[0] == 0xed)
			high = 0x9f;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		length = 4;
		if (s[0] == 0xf0)
			low = 0x90;
		if (s[0] == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (size < length || s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return length;
}

#endif
