/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which one policy allows what another does not, for somebody who has to decide about
 * it: what must not be overlooked comes first. It takes seconds for large policies: nothing for a
 * loop that others wait for.
 */
#ifndef CORDON_POLICY_WIDER_RULES_H
#define CORDON_POLICY_WIDER_RULES_H

#include "policy/ask/alarm.h"
#include "policy/ask/diff.h"
#include "policy/compile/compile.h"

/* A rule that widens, and what is to be said of it before all else. */
struct widening {
	struct policy_widening by;
	struct alarm alarm;
	bool behind; /* others that are listed allow all of it as well */
};

struct widenings {
	struct widening *list;
	size_t count;
	bool complete; /* without all of these rules, nothing is wider */
};

/* Rules that allow the same are taken out after each other: so often at most. */
#define WIDENINGS_ROUNDS_MAX 24u

/*
 * All rules by which `b` allows what `a` does not; `a` NULL: by which it allows anything. What
 * leads to credentials, to what others obey, anywhere, or to any program comes first, then the
 * largest. Those that are found are taken out, and the rest is looked at, until nothing is wider:
 * that takes `written`, of `b`; NULL: what others allow as well is left out. `tuples_max`:
 * POLICY_TUPLES_MAX, or fewer where others wait. Errors as policy_diff(). Release with
 * widenings_release().
 */
int widenings_find(const struct compiled_policy *a, const struct compiled_policy *b,
		   const struct policy_written *written, size_t tuples_max,
		   struct widenings *ret_widenings);
void widenings_release(struct widenings *widenings);

/* "files read /srv/a and others without end below /srv/". Caller frees; NULL: no memory. */
char *widening_phrase(const struct widening *w);

/* The same, and by which rule of `b`. */
char *widening_line(const struct widening *w, const struct compiled_policy *b);

/* What is to be said behind an incomplete list. */
#define WIDENINGS_INCOMPLETE                                                                       \
	"other rules may allow some of this as well: take these out, and compare again"

#endif
