/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which one policy allows what another does not, for somebody who has to decide about it: what must not be
 * overlooked comes first. It takes seconds for large policies: nothing for a loop that others wait for.
 */
#ifndef CORDON_POLICY_WIDER_RULES_H
#define CORDON_POLICY_WIDER_RULES_H

#include "policy/ask/diff.h"

/* A rule that widens, and what is to be said of it before all else. */
struct widening {
	struct policy_widening by;
	const char *alarm;	   /* "connect anywhere", or NULL */
	const char *alarm_example; /* of that */
};

/*
 * All rules by which `b` allows what `a` does not; `a` NULL: by which it allows anything. What leads to credentials,
 * to what others obey, anywhere, or to any program comes first, then the largest. Errors as policy_diff(). Free with
 * widenings_free().
 */
int widenings_find(const struct compiled_policy *a, const struct compiled_policy *b,
		   struct widening **ret_widenings, size_t *ret_count);
void widenings_free(struct widening *widenings, size_t count);

/* "files read /srv/a and others without end below /srv/". Caller frees; NULL: no memory. */
char *widening_phrase(const struct widening *w);

/* The same, and by which rule of `b`. */
char *widening_line(const struct widening *w, const struct compiled_policy *b);

#endif
