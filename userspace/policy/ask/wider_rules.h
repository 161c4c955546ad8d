/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the rules that make one policy allow more than another, for a reviewer: the most serious
 * rules come first. It takes seconds for large policies, so event loops must not call it.
 */
#ifndef CORDON_POLICY_WIDER_RULES_H
#define CORDON_POLICY_WIDER_RULES_H

#include "policy/ask/alarm.h"
#include "policy/ask/diff.h"
#include "policy/compile/compile.h"

/* A rule that widens the policy, and its alarms. */
struct widening {
	struct policy_widening by;
	struct alarm alarm;
	bool behind; /* other rules of the list allow all of it as well */
};

struct widenings {
	struct widening *list;
	size_t count;
	bool complete; /* without all of these rules, `b` allows nothing that `a` does not */
};

/*
 * Upper limit of search rounds: each round removes the rules found so far, to find others that
 * allow the same.
 */
#define WIDENINGS_ROUNDS_MAX 24u

/*
 * All rules that make `b` allow more than `a`; `a` NULL: all that allow anything. Rules with an
 * alarm (enum alarm_kind) come first, then those with the most names.
 *
 * Each round removes the rules found so far and searches the rest, until nothing is wider. This
 * needs `written`, the written rules of `b`. NULL: a rule is left out if other rules allow the
 * same.
 *
 * `tuples_max`: POLICY_TUPLES_MAX, or fewer in an event loop. Errors as policy_diff(). Release with
 * widenings_release().
 */
int widenings_find(const struct compiled_policy *a, const struct compiled_policy *b,
		   const struct policy_written *written, size_t tuples_max,
		   struct widenings *ret_widenings);
void widenings_release(struct widenings *widenings);

/* "files read /srv/a and others without end below /srv/". Caller frees; NULL: no memory. */
char *widening_phrase(const struct widening *w);

/* The same, followed by the rule of `b`. */
char *widening_line(const struct widening *w, const struct compiled_policy *b);

/* The text after an incomplete list. */
#define WIDENINGS_INCOMPLETE                                                                       \
	"other rules may allow some of this as well: take these out, and compare again"

#endif
