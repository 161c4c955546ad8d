/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one policy allows that another does not, decided exactly: both policies' automata run side
 * by side over every name that can be asked, with a shortest example for each right.
 *
 * Over names the comparison is of whole questions: absolute rules, rules that match at any depth,
 * and rules below variables, for every way to bind the variables to directories below the root, one
 * inside the other included. Variables of the two policies are the same if their names are. Names
 * are of any length, without empty components, "." and "..".
 */
#ifndef CORDON_POLICY_DIFF_H
#define CORDON_POLICY_DIFF_H

#include "policy/core/compiled.h"
#include "policy/source/settings.h"

/* One example: an access that one of the two policies allows and the other does not. */
struct policy_witness {
	char *object;	   /* as question_read() takes it */
	char *bindings;	   /* "workdir=/a tmp=/a/b", or "" */
	size_t size;	   /* of what the automata read */
	uint16_t allowing; /* the rule of the allowing policy, or CORDON_NO_RULE: built in */
	uint16_t
		refusing; /* the deny rule of the other one, or CORDON_NO_RULE: it allows no such thing */
};

struct policy_difference {
	const char *section; /* "files" */
	const char *right;   /* "read" */
	enum setting_change change;
	struct policy_witness wider, narrower; /* object NULL: there is none */
};

/* What fits into half a gigabyte. */
#define POLICY_TUPLES_MAX (4u << 20)

/* read, list, write, ...: in this order */
#define POLICY_DIFFERENCES 17

/*
 * -E2BIG: the two have too little in common to compare: more tuples of states than would fit in
 * memory;
 * -ENOMEM. Release with policy_diff_release().
 */
int policy_diff(const struct compiled_policy *a, const struct compiled_policy *b,
		struct policy_difference ret_differences[POLICY_DIFFERENCES]);

/*
 * The same with a bound of its own: tuples of states, some 500,000 a second. For loops that others
 * wait for.
 */
int policy_diff_within(const struct compiled_policy *a, const struct compiled_policy *b,
		       size_t tuples_max,
		       struct policy_difference ret_differences[POLICY_DIFFERENCES]);

void policy_diff_release(struct policy_difference differences[POLICY_DIFFERENCES]);

/* A rule of the second policy by which it allows what the first does not. */
struct policy_widening {
	uint16_t rule;
	const char *section;
	const char *rights[POLICY_DIFFERENCES]; /* in which it is wider */
	size_t right_count;
	struct policy_witness witness; /* a shortest example, for the first of them */
	bool unbounded;		       /* there is no end of such names, */
	char *below;		       /* and they lie below this directory, NULL: not below one */
	uint64_t count;		       /* else so many, with the first right */
};

/*
 * All rules that widen, not one example for each right: each rule that is the one to allow some
 * such name. In the order of the names' kinds and of the rules. `tuples_max` as above. Errors as
 * policy_diff(). Free with policy_widenings_free().
 */
int policy_widenings(const struct compiled_policy *a, const struct compiled_policy *b,
		     size_t tuples_max, struct policy_widening **ret_widenings, size_t *ret_count);
void policy_widening_release(struct policy_widening *widening);
void policy_widenings_free(struct policy_widening *widenings, size_t count);

#endif
