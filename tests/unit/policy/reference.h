/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of patterns, written down a second time as plain recursion over bytes, apart from
 * the compiler and slow on purpose: what the automaton is compared with.
 */
#ifndef CORDON_TESTS_REFERENCE_H
#define CORDON_TESTS_REFERENCE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE_MAX 512

static size_t reference_character(const char *s, const char *end)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	/* Names in these tests hold two-byte characters and stray bytes only. */
	if (n != 2 || end - s < 2 || ((unsigned char)s[1] & 0xc0) != 0x80 || c < 0xc2)
		return 1;
	return 2;
}

static bool reference_flat(const char *p, bool component, const char *s, const char *end);

static bool reference_one(const char *rest, const char *s, const char *end)
{
	if (s == end || *s == '/')
		return false;
	if (reference_flat(rest, false, s + 1, end))
		return true;
	return reference_character(s, end) == 2 && reference_flat(rest, false, s + 2, end);
}

static bool reference_class(const char *p, const char *s, const char *end)
{
	bool negated = p[1] == '!', member = false;
	const char *q = p + 1 + negated;
	const char *first = q;

	if (s == end)
		return false;
	for (; q == first || *q != ']'; q++) {
		if (q[1] == '-' && q[2] != ']') {
			member |= *q <= *s && *s <= q[2];
			q += 2;
		} else {
			member |= *q == *s;
		}
	}
	if (!negated)
		return member && reference_flat(q + 1, false, s + 1, end);
	return !member && reference_one(q + 1, s, end);
}

/* `component`: the pattern is at the start of a component. */
static bool reference_flat(const char *p, bool component, const char *s, const char *end)
{
	if (!*p)
		return s == end;
	if (component && strncmp(p, "**", 2) == 0 && p[strspn(p, "*")] == '/') {
		const char *rest = p + strspn(p, "*");

		rest += strspn(rest, "/");

		if (reference_flat(rest, true, s, end))
			return true;
		for (; s < end; s++)
			if (*s == '/' && reference_flat(rest, true, s + 1, end))
				return true;
		return false;
	}
	if (*p == '*') {
		size_t stars = strspn(p, "*");

		for (;; s++) {
			if (reference_flat(p + stars, false, s, end))
				return true;
			if (s == end || (stars == 1 && *s == '/'))
				return false;
		}
	}
	if (*p == '?')
		return reference_one(p + 1, s, end);
	if (*p == '[')
		return reference_class(p, s, end);
	if (*p == '\\')
		p++;
	else if (*p == '/' && component)
		return reference_flat(p + 1, true, s, end);
	return s < end && *s == *p && reference_flat(p + 1, *p == '/', s + 1, end);
}

/* Replaces the innermost last alternatives by each of them, until there are none. */
static bool reference_pattern(const char *pattern, const char *s, const char *end)
{
	const char *open = strrchr(pattern, '{');
	const char *close = open ? strchr(open, '}') : NULL;

	if (!close)
		return reference_flat(pattern, false, s, end);
	for (const char *from = open + 1; from <= close;) {
		size_t n = strcspn(from, ",}");
		char text[REFERENCE_MAX];

		memcpy(text, pattern, (size_t)(open - pattern));
		memcpy(text + (open - pattern), from, n);
		strcpy(text + (open - pattern) + n, close + 1);
		if (reference_pattern(text, s, end))
			return true;
		from += n + 1;
	}
	return false;
}

/* Does a rule with this path speak of the name? `reads`: the right asked for is READ. */
static bool reference_rule(const char *pattern, bool deny, bool reads, const char *name)
{
	const char *end = name + strlen(name);
	char anywhere[REFERENCE_MAX];

	if (pattern[0] == '*') {
		anywhere[0] = '/';
		strcpy(anywhere + 1, pattern);
		/* "/" followed by "**": a component starts there */
		pattern = anywhere;
	}
	if (reference_pattern(pattern, name, end))
		return true;
	if (!deny)
		return reads && end > name && end[-1] == '/' &&
		       reference_pattern(pattern, name, end - 1);
	/* A deny covers what lies below each name that it matches. */
	for (const char *cut = name; cut < end; cut++) {
		if (*cut == '/' && reference_pattern(pattern, name, cut))
			return true;
		if (cut > name && cut[-1] == '/' && reference_pattern(pattern, name, cut))
			return true;
	}
	return false;
}

#endif
