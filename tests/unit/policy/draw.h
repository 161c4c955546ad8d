/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies and names at random, small enough that patterns meet names, and what the reference says
 * of them.
 */
#ifndef CORDON_TESTS_DRAW_H
#define CORDON_TESTS_DRAW_H

#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "bpf/abi.h"
#include "policy/ask/evaluate.h"
#include "reference.h"

#define NAME_SIZE 128

static uint64_t random_state;

static inline uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16) % n;
}

static inline uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Where a rule's pattern starts: at the root, or at a variable. */
#define AT_ROOT CORDON_MAX_ANCHORS

struct drawn {
	char pattern[REFERENCE_MAX]; /* behind the variable */
	unsigned int anchor;	     /* or AT_ROOT */
	bool deny, write;
};

struct question {
	char name[NAME_SIZE]; /* a '/' at the end asks for a listing */
	size_t anchors[CORDON_MAX_ANCHORS];
};

static inline void make_pattern(char *text, const char *start)
{
	static const char *const pieces[] = {
		"a",   "b",	"ab",	    "/",    "/",     "/a",   "/**/",	      "*",
		"**",  "?",	"[ab]",	    "[!a]", "{a,b}", "{,b}", "{a,b/a,{b,*}}", "/**/b",
		"\\*", "[a-b]", "\xc3\xa4", "c",
	};
	uint32_t count = 1 + random_below(6), wild = 0;

	strcpy(text, start);
	while (count--) {
		const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];
		size_t n = strlen(text);

		/* Stars that touch become one run: which run is a matter of spelling. */
		if (piece[0] == '*' && text[n - 1] == '*')
			continue;
		/* More of them in one pattern multiply beyond what the compiler accepts. */
		if (strchr(piece, '*') && piece[0] != '\\' && ++wild > 3)
			continue;
		strcat(text, piece);
	}
}

static inline void make_name(char *text)
{
	static const char *const pieces[] = {"a", "b", "/", "/", "a", "*", "\xc3\xa4", "\xff", "c"};
	uint32_t count = random_below(9);

	strcpy(text, "/");
	while (count--) {
		const char *piece = pieces[random_below(ARRAY_SIZE(pieces))];

		/* No name that the kernel asks for has an empty component. */
		if (piece[0] != '/' || text[strlen(text) - 1] != '/')
			strcat(text, piece);
	}
}

static inline void place_anchors(struct question *q)
{
	size_t size = strlen(q->name);

	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++)
		q->anchors[i] = POLICY_NO_ANCHOR;
	if (size > 1 && q->name[size - 1] == '/')
		size--;
	for (unsigned int i = CORDON_ANCHOR_WORKDIR; i <= CORDON_ANCHOR_TMP; i++) {
		size_t at = random_below((uint32_t)size + 1);

		/* At the root, or where a component ends. */
		if (at != 1 && (at == 0 || at == size || q->name[at] == '/'))
			q->anchors[i] = at;
	}
}

static inline void draw_rule(struct drawn *rule)
{
	static const char *const starts[] = {"/", "/", "/", "**/"};

	rule->deny = random_below(3) == 0;
	rule->write = random_below(3) == 0;
	rule->anchor = random_below(2) ? AT_ROOT : CORDON_ANCHOR_WORKDIR + random_below(2);
	if (rule->anchor == AT_ROOT)
		make_pattern(rule->pattern, starts[random_below(ARRAY_SIZE(starts))]);
	else if (random_below(6) == 0)
		rule->pattern[0] = '\0';
	else
		make_pattern(rule->pattern, "/");
}

static inline const char *variable(const struct drawn *rule)
{
	return rule->anchor == AT_ROOT		       ? ""
	       : rule->anchor == CORDON_ANCHOR_WORKDIR ? "${workdir}"
						       : "${tmp}";
}

static inline bool speaks(const struct drawn *rule, unsigned int right, const struct question *q)
{
	const char *name = q->name;

	if (rule->write != (right == CORDON_WRITE))
		return false;
	if (rule->anchor != AT_ROOT) {
		if (q->anchors[rule->anchor] == POLICY_NO_ANCHOR)
			return false;
		name += q->anchors[rule->anchor];
		/* The root below itself has no components, and no slash. */
		if (strcmp(q->name, "/") == 0)
			name = "";
	}
	return reference_rule(rule->pattern, rule->deny, !rule->write, name);
}

/* The pattern may match at any depth: two stars may also come together from alternatives. */
static inline bool floats(const struct drawn *rule)
{
	return rule->anchor == AT_ROOT && strchr(rule->pattern, '*') != strrchr(rule->pattern, '*');
}

/*
 * Another rule that may match at any depth speaks as well, perhaps further out: then that one
 * decides.
 */
static inline bool displaced(const struct drawn *rules, size_t count, uint16_t rule,
			     unsigned int right, const struct question *q)
{
	for (uint16_t i = 0; i < count && floats(&rules[rule]); i++)
		if (i != rule && floats(&rules[i]) && rules[i].deny == rules[rule].deny &&
		    speaks(&rules[i], right, q))
			return true;
	return false;
}

/* The rule that decides is the first that speaks, those set aside that another one displaces. */
static inline bool decides(const struct drawn *rules, size_t count, uint16_t rule,
			   unsigned int right, bool deny, const struct question *q)
{
	if (rule >= count || rules[rule].deny != deny || !speaks(&rules[rule], right, q))
		return false;
	for (uint16_t i = 0; i < rule; i++)
		if (rules[i].deny == deny && speaks(&rules[i], right, q) &&
		    !displaced(rules, count, i, right, q))
			return false;
	return true;
}

struct expected {
	bool allow, deny; /* whether some rule does */
};

static inline struct expected expect(const struct drawn *rules, size_t count, unsigned int right,
				     const struct question *q)
{
	struct expected e = {};

	for (size_t i = 0; i < count; i++) {
		bool matches = speaks(&rules[i], right, q);

		e.allow |= matches && !rules[i].deny;
		e.deny |= matches && rules[i].deny;
	}
	return e;
}

/* The rules as a policy's text; caller frees. */
static inline char *spell(const struct drawn *rules, size_t count)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("version: 1\nfiles:\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  - {%s: [%s], paths: ['%s%s']}\n", rules[i].deny ? "deny" : "allow",
			rules[i].write ? "write" : "read", variable(&rules[i]), rules[i].pattern);
	return fclose(out) == 0 ? text : NULL;
}

#endif
