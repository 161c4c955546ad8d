/* SPDX-License-Identifier: Apache-2.0 */
/* Parses git's configuration files; the syntax is the same as in git's config.c. */
#include "launch/git_config.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

struct reader {
	const char *at, *end;
	git_config_variable *call;
	void *context;
	char name[GIT_CONFIG_NAME_MAX];
	size_t section; /* bytes of the section in `name`, with the final '.' */
	char value[GIT_CONFIG_VALUE_MAX];
};

#define END_OF_FILE (-1)

/* Returns the next byte. Skips a CR before a LF, as git does. */
static int next(struct reader *r)
{
	if (r->at == r->end)
		return END_OF_FILE;
	if (r->at[0] == '\r' && r->end - r->at > 1 && r->at[1] == '\n')
		r->at++;
	return (unsigned char)*r->at++;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_letter(int c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_key_byte(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static char lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static int skip_line(struct reader *r)
{
	int c;

	while ((c = next(r)) != '\n' && c != END_OF_FILE)
		;
	return c;
}

/* Leaves room for '.', a key's first byte and the NUL. */
static bool add_to_section(struct reader *r, char c)
{
	if (r->section + 4 > sizeof(r->name))
		return false;
	r->name[r->section++] = c;
	return true;
}

/* Parses a subsection after its opening quote; it is case-sensitive. */
static int read_subsection(struct reader *r)
{
	int c;

	if (!add_to_section(r, '.'))
		return -EBADMSG;
	while ((c = next(r)) != '"') {
		if (c == '\\')
			c = next(r);
		if (c == END_OF_FILE || c == '\n' || c == '\0' || !add_to_section(r, (char)c))
			return -EBADMSG;
	}
	return next(r) == ']' ? 0 : -EBADMSG;
}

/* Parses a section after the '['. */
static int read_section(struct reader *r)
{
	int c, result = 0;

	r->section = 0;
	while ((c = next(r)) != ']') {
		if (is_space(c)) {
			while (is_space(c))
				c = next(r);
			result = c == '"' ? read_subsection(r) : -EBADMSG;
			break;
		}
		if ((!is_key_byte(c) && c != '.') || !add_to_section(r, lower(c)))
			return -EBADMSG;
	}
	return result == 0 && add_to_section(r, '.') ? 0 : -EBADMSG;
}

/* Parses a value after the '='. */
static int read_value(struct reader *r)
{
	size_t length = 0, kept = 0;
	bool quoted = false;

	for (;;) {
		bool escaped = false;
		int c = next(r);

		if (c == '\n' || c == END_OF_FILE) {
			if (quoted)
				return -EBADMSG;
			break;
		}
		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (!quoted && is_space(c)) {
			/* Skip white space at both ends of the value. */
			if (length == 0)
				continue;
		} else if (c == '"') {
			quoted = !quoted;
			kept = length;
			continue;
		} else if (c == '\\') {
			static const char from[] = "\"\\ntb", to[] = "\"\\\n\t\b";
			const char *found;

			c = next(r);
			if (c == '\n')
				continue;
			found = c == END_OF_FILE || c == '\0' ? NULL : strchr(from, c);
			if (!found)
				return -EBADMSG;
			c = (unsigned char)to[found - from];
			escaped = true;
		}
		if (length + 1 >= sizeof(r->value) || c == '\0')
			return -EBADMSG;
		r->value[length++] = (char)c;
		if (quoted || escaped || !is_space(c))
			kept = length;
	}
	r->value[kept] = '\0';
	return 0;
}

/* Parses a variable; `c` is the key's first character. */
static int read_variable(struct reader *r, int c)
{
	size_t length = r->section;
	int result = 0;

	if (r->section == 0 || !is_letter(c))
		return -EBADMSG;
	for (; is_key_byte(c); c = next(r)) {
		if (length + 1 >= sizeof(r->name))
			return -EBADMSG;
		r->name[length++] = lower(c);
	}
	r->name[length] = '\0';
	while (c == ' ' || c == '\t')
		c = next(r);
	if (c == '=') {
		result = read_value(r);
		return result < 0 ? result : r->call(r->context, r->name, r->value);
	}
	if (c == '#' || c == ';')
		c = skip_line(r);
	if (c != '\n' && c != END_OF_FILE)
		return -EBADMSG;
	return r->call(r->context, r->name, NULL);
}

int git_config_parse(const char *text, size_t size, git_config_variable *call, void *context)
{
	struct reader reader = {
		.at = text,
		.end = text + size,
		.call = call,
		.context = context,
	};
	struct reader *r = &reader;
	int c, result = 0;

	/* Skip a byte order mark. */
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r->at += 3;
	while (result == 0 && (c = next(r)) != END_OF_FILE) {
		if (c == '\n' || is_space(c))
			continue;
		if (c == '#' || c == ';')
			skip_line(r);
		else if (c == '[')
			result = read_section(r);
		else
			result = read_variable(r, c);
	}
	return result;
}
