/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path patterns and abstract socket names, as documented in docs/policies.md:
 *
 *  * any bytes within a component, also none ** any bytes, '/' included
 *  ? one character, not '/' **{/} any directories, also none
 *  [a-z] one ASCII character of a set, [!a-z] one character outside it
 *  {a,b} either; nested, with wildcards \x x itself
 *  x/. x, and nothing below it
 */
#ifndef CORDON_POLICY_PATTERN_H
#define CORDON_POLICY_PATTERN_H

#include "policy/source/model.h"
#include "policy/automaton/nfa.h"

#define PATTERN_SIZE_MAX	 4096
#define PATTERN_COMBINATIONS_MAX 1024
#define PATTERN_GROUPS_MAX	 32

/* One combination of a pattern's alternatives. */
struct pattern {
	enum cordon_start start; /* CORDON_START_FLOATING: it may match at any depth */
	bool special;		 /* "@anonymous", "@memfd" */
	bool itself;		 /* ends in "/.": no names below the object */
	const struct element *elements;
	size_t count;
};

struct pattern_reader {
	struct arena *arena;
	struct diagnostics *diagnostics;
	const char *const *anchors; /* CORDON_MAX_ANCHORS names, NULL: unused */
};

/*
 * Calls `emit` for each combination; a negative result stops the reading. Errors in the pattern are
 * reported in the diagnostics, and the return value is 0. Otherwise returns -ENOMEM or the result
 * of `emit`.
 */
int pattern_read(struct pattern_reader *r, const struct rule_name *name,
		 int (*emit)(void *context, const struct pattern *pattern), void *context);

/* The pattern matches a name only if the name ends with '/': a listing. */
bool pattern_is_listing(const struct pattern *p);

/* The pattern matches everything below the names that it matches. */
bool pattern_is_subtree(const struct pattern *p);

#endif
