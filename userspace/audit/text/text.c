/* SPDX-License-Identifier: Apache-2.0 */
/* Makes JSON of names chosen by others: valid UTF-8, and the exact bytes beside it. */
#include "audit/text/text.h"

#include <string.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, text_json_decrefp)

/* Length of the valid sequence at `bytes`, 0: none. */
static size_t sequence_length(const unsigned char *bytes, size_t size)
{
	unsigned char b = bytes[0], low = 0x80, high = 0xbf;
	size_t length;

	if (b == 0)
		return 0;
	if (b < 0x80)
		return 1;
	if (b >= 0xc2 && b <= 0xdf) {
		length = 2;
	} else if (b >= 0xe0 && b <= 0xef) {
		length = 3;
		if (b == 0xe0)
			low = 0xa0; /* shorter forms exist */
		else if (b == 0xed)
			high = 0x9f; /* surrogates */
	} else if (b >= 0xf0 && b <= 0xf4) {
		length = 4;
		if (b == 0xf0)
			low = 0x90;
		else if (b == 0xf4)
			high = 0x8f; /* beyond U+10FFFF */
	} else {
		return 0;
	}
	if (size < length || bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

uint32_t text_character(const char *bytes, size_t size, size_t *ret_length)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *b = (const unsigned char *)bytes;
	size_t length = sequence_length(b, size);
	uint32_t character = b[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		character = character << 6 | (b[i] & 0x3f);
	*ret_length = length;
	return character;
}

bool text_is_harmless(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} harmful[] = {
		{0x00, 0x1f},	  {0x7f, 0x9f},	    {0xad, 0xad},	{0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},	{0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (character >= harmful[i].first && character <= harmful[i].last)
			return false;
	return true;
}

/* Eight ASCII characters, no NUL among them? */
static bool is_plain_word(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101ull, highs = ones << 7;

	return ((((word - ones) & ~word) | word) & highs) == 0;
}

bool text_is_valid(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		uint64_t word;
		size_t n;

		/* Most text is ASCII: eight bytes at a time. */
		if (size - i >= sizeof(word)) {
			memcpy(&word, bytes + i, sizeof(word));
			if (is_plain_word(word)) {
				i += sizeof(word);
				continue;
			}
		}
		n = sequence_length((const unsigned char *)bytes + i, size - i);
		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

json_t *text_lossy(const char *bytes, size_t size)
{
	_cleanup_(freep) char *out = NULL;
	size_t length = 0;

	if (text_is_valid(bytes, size))
		return json_stringn_nocheck(bytes, size);
	out = malloc(size * 3);
	if (!out)
		return NULL;
	for (size_t i = 0; i < size;) {
		size_t n = sequence_length((const unsigned char *)bytes + i, size - i);

		if (n == 0) {
			memcpy(out + length, "\xef\xbf\xbd", 3);
			length += 3;
			i++;
		} else {
			memcpy(out + length, bytes + i, n);
			length += n;
			i += n;
		}
	}
	return json_stringn_nocheck(out, length);
}

size_t text_write_base64(const char *bytes, size_t size, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes;
	size_t length = 0;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t group = (uint32_t)in[i] << 16;

		if (i + 1 < size)
			group |= (uint32_t)in[i + 1] << 8;
		if (i + 2 < size)
			group |= in[i + 2];
		out[length++] = digits[group >> 18];
		out[length++] = digits[(group >> 12) & 63];
		out[length++] = i + 1 < size ? digits[(group >> 6) & 63] : '=';
		out[length++] = i + 2 < size ? digits[group & 63] : '=';
	}
	return length;
}

json_t *text_base64(const char *bytes, size_t size)
{
	_cleanup_(freep) char *out = malloc((size + 2) / 3 * 4 + 1);

	return out ? json_stringn_nocheck(out, text_write_base64(bytes, size, out)) : NULL;
}

/* object[key + suffix] = value, whose reference is taken. */
static int set_sibling(json_t *object, const char *key, const char *suffix, json_t *value)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", key, suffix);
	return json_object_set_new(object, name, value) < 0 ? -ENOMEM : 0;
}

size_t text_cut(const char *bytes, size_t size, size_t limit)
{
	size_t back = 0;

	if (size <= limit)
		return size;
	while (back < 3 && back < limit && ((unsigned char)bytes[limit - back] & 0xc0) == 0x80)
		back++;
	return limit - back;
}

int text_set(json_t *object, const char *key, const char *bytes, size_t size)
{
	size_t kept = text_cut(bytes, size, TEXT_MAX);

	if (json_object_set_new(object, key, text_lossy(bytes, kept)) < 0)
		return -ENOMEM;
	if (kept < size && set_sibling(object, key, "_length", json_integer((json_int_t)size)) < 0)
		return -ENOMEM;
	if (text_is_valid(bytes, kept))
		return 0;
	return set_sibling(object, key, "_base64", text_base64(bytes, kept));
}

int text_set_string(json_t *object, const char *key, const char *string)
{
	if (!string)
		return json_object_set_new(object, key, json_null()) < 0 ? -ENOMEM : 0;
	return text_set(object, key, string, strlen(string));
}

int text_set_list(json_t *object, const char *key, size_t count, const char *const *strings)
{
	_cleanup_(text_json_decrefp) json_t *list = json_array();
	_cleanup_(text_json_decrefp) json_t *exact = json_array();
	bool lossy = false;
	size_t total = 0, i = 0;

	if (!list || !exact)
		return -ENOMEM;
	for (; i < count; i++) {
		size_t length = strings[i] ? strlen(strings[i]) : 0;
		bool valid = !strings[i] || text_is_valid(strings[i], length);

		/* Each entry counts for its quotes, so that empty ones end, too. */
		total += length + 4;
		if (total > TEXT_LIST_MAX)
			break;
		lossy |= !valid;
		if (json_array_append_new(list, strings[i] ? text_lossy(strings[i], length)
							   : json_null()) < 0 ||
		    json_array_append_new(exact, valid ? json_null()
						       : text_base64(strings[i], length)) < 0)
			return -ENOMEM;
	}
	if (json_object_set(object, key, list) < 0)
		return -ENOMEM;
	if (i < count &&
	    set_sibling(object, key, "_omitted", json_integer((json_int_t)(count - i))) < 0)
		return -ENOMEM;
	return lossy ? set_sibling(object, key, "_base64", json_incref(exact)) : 0;
}
