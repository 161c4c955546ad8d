/* SPDX-License-Identifier: Apache-2.0 */
/* Output for people, with optional colours and escaped untrusted text. */
#include "insight/text/style.h"

#include <stdlib.h>
#include <string.h>

#include "audit/text/text.h"
#include "base/cleanup.h"
#include "base/clock.h"

static const char *const codes[STYLE_ROLE_COUNT] = {
	[STYLE_BOLD] = "1",  [STYLE_DIM] = "2",	  [STYLE_BAD] = "1;31",
	[STYLE_WARN] = "33", [STYLE_GOOD] = "32", [STYLE_NAME] = "36",
};

void style_begin(FILE *out, const struct style *style, enum style_role role)
{
	if (style->color && codes[role])
		fprintf(out, "\033[%sm", codes[role]);
}

void style_end(FILE *out, const struct style *style, enum style_role role)
{
	if (style->color && codes[role])
		fputs("\033[0m", out);
}

/* The longest is "\u{10ffff}". */
#define CHARACTER_SIZE 16

/* Formats one character, escaped if necessary. Returns the columns. */
static size_t show_character(const struct style *style, const char *bytes, size_t size,
			     char shown[CHARACTER_SIZE], size_t *ret_length)
{
	size_t length;
	uint32_t character = text_character(bytes, size, &length);

	if (length == 0) {
		*ret_length = 1;
		return (size_t)snprintf(shown, CHARACTER_SIZE, "\\x%02x", (unsigned char)bytes[0]);
	}
	*ret_length = length;
	if (text_is_harmless(character) && (character < 0x80 || style->unicode)) {
		memcpy(shown, bytes, length);
		shown[length] = '\0';
		return 1;
	}
	if (character == '\n')
		return (size_t)snprintf(shown, CHARACTER_SIZE, "\\n");
	if (character == '\t')
		return (size_t)snprintf(shown, CHARACTER_SIZE, "\\t");
	return (size_t)snprintf(shown, CHARACTER_SIZE, character < 0x80 ? "\\x%02x" : "\\u{%x}",
				character);
}

size_t style_text(FILE *out, const struct style *style, const char *text)
{
	return style_text_in(out, style, STYLE_PLAIN, text, 0);
}

static size_t measure(const struct style *style, const char *text, size_t size)
{
	size_t columns = 0, length;
	char shown[CHARACTER_SIZE];

	for (size_t i = 0; i < size; i += length)
		columns += show_character(style, text + i, size - i, shown, &length);
	return columns;
}

size_t style_text_in(FILE *out, const struct style *style, enum style_role role, const char *text,
		     size_t limit)
{
	size_t size = strlen(text), columns = 0, length;
	bool cut = limit > 3 && measure(style, text, size) > limit;
	char shown[CHARACTER_SIZE];

	style_begin(out, style, role);
	for (size_t i = 0; i < size; i += length) {
		size_t takes = show_character(style, text + i, size - i, shown, &length);

		if (cut && columns + takes > limit - 3)
			break;
		fputs(shown, out);
		columns += takes;
	}
	if (cut)
		columns += (size_t)fprintf(out, "...");
	style_end(out, style, role);
	return columns;
}

void style_pad(FILE *out, size_t columns)
{
	fprintf(out, "%*s", (int)columns, "");
}

void style_duration(unsigned long long nsec, char text[STYLE_QUANTITY_SIZE])
{
	unsigned long long seconds = nsec / NSEC_PER_SEC;

	if (nsec < NSEC_PER_MSEC)
		snprintf(text, STYLE_QUANTITY_SIZE, "%.2f ms", (double)nsec / 1e6);
	else if (nsec < NSEC_PER_SEC)
		snprintf(text, STYLE_QUANTITY_SIZE, "%llu ms", nsec / NSEC_PER_MSEC);
	else if (seconds < 60)
		snprintf(text, STYLE_QUANTITY_SIZE, "%.2f s", (double)nsec / 1e9);
	else if (seconds < 3600 && seconds % 60 == 0)
		snprintf(text, STYLE_QUANTITY_SIZE, "%llu min", seconds / 60);
	else if (seconds < 3600)
		snprintf(text, STYLE_QUANTITY_SIZE, "%llu min %llu s", seconds / 60, seconds % 60);
	else
		snprintf(text, STYLE_QUANTITY_SIZE, "%llu h %llu min", seconds / 3600,
			 seconds / 60 % 60);
}

void style_bytes(unsigned long long bytes, char text[STYLE_QUANTITY_SIZE])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	if (unit == 0 || value == (double)(unsigned long long)value)
		snprintf(text, STYLE_QUANTITY_SIZE, "%.0f %s", value, units[unit]);
	else
		snprintf(text, STYLE_QUANTITY_SIZE, "%.1f %s", value, units[unit]);
}
