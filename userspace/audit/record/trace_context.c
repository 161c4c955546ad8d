/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a caller says of the trace and the conversation that it acts for. */
#include "audit/record/trace_context.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CONVERSATION_KEY "gen_ai.conversation.id"
#define VERSION_DIGITS	 2u
#define TRACE_DIGITS	 (TRACE_ID_SIZE - 1)
#define SPAN_DIGITS	 (TRACE_SPAN_SIZE - 1)
#define SPACES		 " \t"

/* `size` digits of which one is no zero, and `end` behind them, which *at is moved beyond. */
static bool take_digits(const char **at, size_t size, char end, bool zeros, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	if (strspn(*at, digits) != size || (*at)[size] != end)
		return false;
	if (!zeros && strspn(*at, "0") == size)
		return false;
	memcpy(ret, *at, size);
	ret[size] = '\0';
	*at += size + (end != '\0');
	return true;
}

bool trace_context_parse(const char *traceparent, struct trace_context *ret_context)
{
	char version[VERSION_DIGITS + 1], flags[VERSION_DIGITS + 1];
	struct trace_context context;
	const char *at = traceparent;

	if (!take_digits(&at, VERSION_DIGITS, '-', true, version) || strcmp(version, "ff") == 0 ||
	    !take_digits(&at, TRACE_DIGITS, '-', false, context.trace) ||
	    !take_digits(&at, SPAN_DIGITS, '-', false, context.span))
		return false;
	/* A later version may have more. */
	if (!take_digits(&at, VERSION_DIGITS, '\0', true, flags) &&
	    (strcmp(version, "00") == 0 || !take_digits(&at, VERSION_DIGITS, '-', true, flags)))
		return false;
	*ret_context = context;
	return true;
}

/* Up to `end`, with %XX as what they stand for. */
static bool decode(const char *at, const char *end, char ret[CONVERSATION_SIZE])
{
	size_t size = 0;

	while (at < end) {
		unsigned char byte = (unsigned char)*at++;

		if (byte == '%') {
			char digits[3] = {};

			if (end - at < 2 || !isxdigit((unsigned char)at[0]) ||
			    !isxdigit((unsigned char)at[1]))
				return false;
			memcpy(digits, at, 2);
			byte = (unsigned char)strtoul(digits, NULL, 16);
			at += 2;
		}
		if (byte < ' ' || byte == 0x7f || size == CONVERSATION_SIZE - 1)
			return false;
		ret[size++] = (char)byte;
	}
	ret[size] = '\0';
	return size > 0;
}

/* One entry, up to `end`: KEY = VALUE, with spaces where they may be, and properties behind a ;. */
static bool read_entry(const char *entry, const char *end, char ret[CONVERSATION_SIZE])
{
	const char *value, *properties;

	entry += strspn(entry, SPACES);
	if (strncmp(entry, CONVERSATION_KEY, strlen(CONVERSATION_KEY)) != 0)
		return false;
	value = entry + strlen(CONVERSATION_KEY);
	value += strspn(value, SPACES);
	if (value >= end || *value != '=')
		return false;
	value++;
	value += strspn(value, SPACES);
	if (value > end)
		return false;
	properties = memchr(value, ';', (size_t)(end - value));
	if (properties)
		end = properties;
	while (end > value && strchr(SPACES, end[-1]))
		end--;
	return decode(value, end, ret);
}

bool trace_context_conversation(const char *baggage, char ret_id[CONVERSATION_SIZE])
{
	for (const char *entry = baggage;; entry++) {
		const char *end = strchrnul(entry, ',');

		if (read_entry(entry, end, ret_id))
			return true;
		if (*end == '\0')
			return false;
		entry = end;
	}
}
