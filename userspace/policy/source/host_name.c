/* SPDX-License-Identifier: Apache-2.0 */
/* Parses host names in network rules, and reverses their labels for the automaton. */
#include "policy/source/host_name.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_label_byte(char c, bool pattern)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
	       (pattern && c == '*');
}

static bool is_label(const char *label, size_t size, bool pattern)
{
	if (size == 0 || size > HOST_NAME_LABEL)
		return false;
	for (size_t i = 0; i < size; i++)
		if (!is_label_byte(label[i], pattern))
			return false;
	for (size_t i = 1; i < size; i++)
		if (label[i] == '*' && label[i - 1] == '*' && size != 2)
			return false;
	return label[0] != '-' && label[size - 1] != '-';
}

int host_name_read(const char *text, bool pattern, char ret_name[HOST_NAME_SIZE])
{
	size_t size = strlen(text);

	if (size > 0 && text[size - 1] == '.')
		size--;
	if (size == 0 || size > HOST_NAME_MAX_TEXT)
		return -EINVAL;
	for (size_t i = 0; i < size; i++)
		ret_name[i] = small(text[i]);
	ret_name[size] = '\0';
	for (const char *label = ret_name;; label++) {
		size_t length = strcspn(label, ".");

		if (!is_label(label, length, pattern))
			return -EINVAL;
		label += length;
		if (!*label)
			return 0;
	}
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

bool host_name_is_every(const char *text)
{
	static const char *const words[] = {"any",	"all",	    "every",	  "everything",
					    "anything", "anywhere", "everywhere", "internet",
					    "world",	NULL};

	return is_one_of(text, words);
}

bool host_name_is_loopback(const char *text)
{
	static const char *const words[] = {
		"localhost", "localhost.", "localhost.localdomain", "ip6-localhost", "ip6-loopback",
		"loopback",  NULL};
	size_t length = strlen(text);

	return is_one_of(text, words) ||
	       (length > 10 && strcasecmp(text + length - 10, ".localhost") == 0);
}

/* Copies the parts of `from` in reverse order. */
static void turn(const char *from, size_t size, char old, char new, char *to)
{
	size_t end = size, at = 0;

	while (at <= size) {
		size_t begin = end;

		while (begin > 0 && from[begin - 1] != old)
			begin--;
		memcpy(to + at, from + begin, end - begin);
		at += end - begin;
		if (begin == 0)
			break;
		to[at++] = new;
		end = begin - 1;
	}
	to[at] = '\0';
}

void host_name_reverse(const char *name, char ret_reversed[HOST_NAME_SIZE])
{
	turn(name, strnlen(name, HOST_NAME_MAX_TEXT), '.', '/', ret_reversed);
}

void host_name_restore(const char *reversed, size_t size, char ret_name[HOST_NAME_SIZE])
{
	turn(reversed, size < HOST_NAME_MAX_TEXT ? size : HOST_NAME_MAX_TEXT, '/', '.', ret_name);
}
