/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact comparison of two policies: finds the accesses that only one of them allows.
 *
 * Both policies' automata run in lockstep over every possible name. Each right gets a shortest
 * example.
 *
 * Names are compared with all rules at once: absolute rules, rules that match at any depth, and
 * rules below variables. This covers every way to bind the variables to directories below the root,
 * also nested ones. Variables of the two policies are the same if their names are. Names are of any
 * length, without empty components, "." and "..".
 */
#ifndef CORDON_POLICY_DIFF_H
#define CORDON_POLICY_DIFF_H

#include "policy/core/compiled.h"
#include "policy/source/settings.h"

/* One example: an access that one of the two policies allows and the other does not. */
struct policy_witness {
	char *object;	   /* as question_read() takes it */
	char *bindings;	   /* "workdir=/a tmp=/a/b", or "" */
	size_t size;	   /* of the automaton's input */
	uint16_t allowing; /* the rule of the allowing policy, or CORDON_NO_RULE: built in */
	uint16_t refusing; /* the deny rule of the other policy, or CORDON_NO_RULE: none matches */
};

struct policy_difference {
	const char *section; /* "files" */
	const char *right;   /* "read" */
	enum setting_change change;
	struct policy_witness wider, narrower; /* object NULL: there is none */
};

/* This many tuples fit into half a gigabyte. */
#define POLICY_TUPLES_MAX (4u << 20)

/* read, list, write, ...: in this order */
#define POLICY_DIFFERENCES 17

/*
 * -E2BIG: the policies differ too much to compare, the tuples of states would not fit in memory.
 * -ENOMEM. Release with policy_diff_release().
 */
int policy_diff(const struct compiled_policy *a, const struct compiled_policy *b,
		struct policy_difference ret_differences[POLICY_DIFFERENCES]);

/*
 * The same with the caller's own limit of tuples of states; about 500,000 take one second. For
 * event loops, which must not block for long.
 */
int policy_diff_within(const struct compiled_policy *a, const struct compiled_policy *b,
		       size_t tuples_max,
		       struct policy_difference ret_differences[POLICY_DIFFERENCES]);

void policy_diff_release(struct policy_difference differences[POLICY_DIFFERENCES]);

/* A rule of the second policy that allows more than the first policy. */
struct policy_widening {
	uint16_t rule;
	const char *section;
	const char *rights[POLICY_DIFFERENCES]; /* rights that are wider */
	size_t right_count;
	struct policy_witness witness; /* a shortest example for the first right */
	bool unbounded;		       /* the number of such names is unlimited */
	char *below;		       /* the directory that contains them; NULL: none */
	uint64_t count;		       /* otherwise the number of names, for the first right */
};

/*
 * Finds every rule that allows more, not only one example for each right: each rule that decides at
 * least one such name. If the whole comparison is too large, finds some of these rules, at least
 * one. Sorted by the kind of name, then by rule. `tuples_max` as above. Errors as
 * policy_diff(). Free with policy_widenings_free().
 */
int policy_widenings(const struct compiled_policy *a, const struct compiled_policy *b,
		     size_t tuples_max, struct policy_widening **ret_widenings, size_t *ret_count);
void policy_widening_release(struct policy_widening *widening);
void policy_widenings_free(struct policy_widening *widenings, size_t count);

#endif
