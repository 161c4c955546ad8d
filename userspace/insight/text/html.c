/* SPDX-License-Identifier: Apache-2.0 */
/* Writes untrusted text in HTML, escaped so that it never becomes markup. */
#include "insight/text/html.h"

#include <stdarg.h>
#include <string.h>

#include "audit/text/text.h"
#include "base/cleanup.h"

static void write_character(FILE *out, uint32_t character, const char *bytes, size_t length)
{
	switch (character) {
	case '&':
		fputs("&amp;", out);
		return;
	case '<':
		fputs("&lt;", out);
		return;
	case '>':
		fputs("&gt;", out);
		return;
	case '"':
		fputs("&quot;", out);
		return;
	case '\'':
		fputs("&#39;", out);
		return;
	default:
		break;
	}
	if (text_is_harmless(character))
		fwrite(bytes, 1, length, out);
	else if (character == '\n')
		fputs("\\n", out);
	else
		fprintf(out, character < 0x80 ? "\\x%02x" : "\\u{%x}", character);
}

void html_text(FILE *out, const char *text)
{
	size_t size, length;

	if (!text)
		text = "?";
	size = strlen(text);
	for (size_t i = 0; i < size; i += length) {
		uint32_t character = text_character(text + i, size - i, &length);

		if (length == 0) {
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
			length = 1;
			continue;
		}
		write_character(out, character, text + i, length);
	}
}

void html_format(FILE *out, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0)
		text = NULL;
	html_text(out, text);
}
