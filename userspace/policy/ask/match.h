/* SPDX-License-Identifier: Apache-2.0 */
/* Finds every rule that matches a name, not only the deciding one: for explanations. */
#ifndef CORDON_POLICY_MATCH_H
#define CORDON_POLICY_MATCH_H

#include "policy/compile/compile.h"
#include "policy/ask/question.h"

struct policy_match {
	uint32_t rule;
	bool deny;
};

struct policy_matches {
	struct policy_match *list; /* denies first, then in the order of rules; each rule once */
	size_t count;
};

void policy_matches_release(struct policy_matches *m);

/*
 * Reads the policy's rules again from the file that policy_check() would find. Runs each rule by
 * simulation of the nondeterministic automaton (Thompson 1968). -EINVAL and others as
 * policy_check(): the file has changed since it was compiled.
 */
int policy_find_matches(const char *name_or_path, const struct policy_search *search,
			const struct policy_question *q, struct policy_matches *ret_matches);

/* The same with patterns that are already read by policy_written_rules(). -ENOMEM. */
int policy_match_rules(const struct nfa *nfa, const struct policy_question *q,
		       struct policy_matches *ret_matches);

#endif
