/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON straight into a buffer, in ASCII only. */
#include "audit/text/json_text.h"

#include "audit/text/text.h"

#define ONES  0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* A bit for each byte that is less than n (at most 128), and of others only behind such a one. */
static inline uint64_t has_less(uint64_t word, uint64_t n)
{
	return (word - ONES * n) & ~word & HIGHS;
}

static inline uint64_t has_byte(uint64_t word, unsigned char byte)
{
	return has_less(word ^ (ONES * byte), 1);
}

/* Does none of the eight bytes need an escape? */
static inline bool is_plain(uint64_t word)
{
	return ((word & HIGHS) | has_less(word, 0x20) | has_byte(word, '"') | has_byte(word, '\\') |
		has_byte(word, 0x7f)) == 0;
}

static inline bool is_plain_byte(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* How many bytes can be taken as they are. */
static size_t plain_length(const char *bytes, size_t size)
{
	size_t i = 0;

	for (; size - i >= 8; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, 8);
		if (!is_plain(word))
			break;
	}
	while (i < size && is_plain_byte((unsigned char)bytes[i]))
		i++;
	return i;
}

static void escape_unit(struct buffer *out, uint32_t unit)
{
	static const char digits[] = "0123456789ABCDEF";
	char text[6] = {
		'\\',
		'u',
		digits[unit >> 12 & 15],
		digits[unit >> 8 & 15],
		digits[unit >> 4 & 15],
		digits[unit & 15],
	};

	buffer_add(out, text, sizeof(text));
}

static void escape(struct buffer *out, uint32_t character)
{
	switch (character) {
	case '"':
		buffer_literal(out, "\\\"");
		break;
	case '\\':
		buffer_literal(out, "\\\\");
		break;
	case '\n':
		buffer_literal(out, "\\n");
		break;
	case '\t':
		buffer_literal(out, "\\t");
		break;
	case '\r':
		buffer_literal(out, "\\r");
		break;
	default:
		if (character < 0x10000) {
			escape_unit(out, character);
		} else {
			character -= 0x10000;
			escape_unit(out, 0xd800 | character >> 10);
			escape_unit(out, 0xdc00 | (character & 0x3ff));
		}
	}
}

bool json_text_string(struct buffer *out, const char *bytes, size_t size)
{
	bool valid = true;

	buffer_literal(out, "\"");
	for (size_t i = 0; i < size;) {
		size_t length = plain_length(bytes + i, size - i);
		uint32_t character;

		buffer_add(out, bytes + i, length);
		i += length;
		if (i == size)
			break;
		character = text_character(bytes + i, size - i, &length);
		if (length == 0) {
			valid = false;
			character = 0xfffd;
			length = 1;
		}
		escape(out, character);
		i += length;
	}
	buffer_literal(out, "\"");
	return valid;
}

static void base64(struct buffer *out, const char *bytes, size_t size)
{
	char *to;

	if (!buffer_reserve(out, (size + 2) / 3 * 4 + 2))
		return;
	to = out->data + out->size;
	*to++ = '"';
	to += text_write_base64(bytes, size, to);
	*to++ = '"';
	out->size = (size_t)(to - out->data);
}

static void write_key(struct buffer *out, const char *key, const char *suffix)
{
	char last = out->size > 0 ? out->data[out->size - 1] : '{';

	if (last != '{' && last != '[')
		buffer_literal(out, ",");
	buffer_literal(out, "\"");
	buffer_string(out, key);
	buffer_string(out, suffix);
	buffer_literal(out, "\":");
}

void json_text_key(struct buffer *out, const char *key)
{
	write_key(out, key, "");
}

void json_text_member(struct buffer *out, const char *key, const char *bytes, size_t size)
{
	size_t kept;
	bool valid;

	write_key(out, key, "");
	if (!bytes) {
		buffer_literal(out, "null");
		return;
	}
	kept = text_cut(bytes, size, TEXT_MAX);
	valid = json_text_string(out, bytes, kept);
	if (kept < size) {
		write_key(out, key, "_length");
		buffer_number(out, size);
	}
	if (!valid) {
		write_key(out, key, "_base64");
		base64(out, bytes, kept);
	}
}

void json_text_member_string(struct buffer *out, const char *key, const char *string)
{
	json_text_member(out, key, string, string ? strlen(string) : 0);
}

/* How many strings there is room for. */
static size_t count_kept(size_t count, const char *const *strings)
{
	size_t total = 0, i = 0;

	for (; i < count; i++) {
		/* Each entry counts for its quotes, so that empty ones end, too. */
		total += (strings[i] ? strlen(strings[i]) : 0) + 4;
		if (total > TEXT_LIST_MAX)
			break;
	}
	return i;
}

void json_text_member_list(struct buffer *out, const char *key, size_t count,
			   const char *const *strings)
{
	size_t kept = count_kept(count, strings);
	bool valid = true;

	write_key(out, key, "");
	buffer_literal(out, "[");
	for (size_t i = 0; i < kept; i++) {
		if (i > 0)
			buffer_literal(out, ",");
		if (strings[i])
			valid &= json_text_string(out, strings[i], strlen(strings[i]));
		else
			buffer_literal(out, "null");
	}
	buffer_literal(out, "]");
	if (kept < count) {
		write_key(out, key, "_omitted");
		buffer_number(out, count - kept);
	}
	if (valid)
		return;
	write_key(out, key, "_base64");
	buffer_literal(out, "[");
	for (size_t i = 0; i < kept; i++) {
		size_t length = strings[i] ? strlen(strings[i]) : 0;

		if (i > 0)
			buffer_literal(out, ",");
		if (strings[i] && !text_is_valid(strings[i], length))
			base64(out, strings[i], length);
		else
			buffer_literal(out, "null");
	}
	buffer_literal(out, "]");
}
