/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a policy that allows everything recorded executions did. Fragments are used where they
 * cover many accesses, and patterns where names will change, otherwise the names themselves. Each
 * rule has its evidence next to it. The result is compiled, and every recorded access is checked
 * with it.
 */
#ifndef CORDON_INSIGHT_LEARN_H
#define CORDON_INSIGHT_LEARN_H

#include "insight/recording/recording.h"
#include "policy/compile/compile.h"

struct learn_options {
	const char *name; /* the policy's name */
	const struct policy_search *search;
	const char *const *fragments; /* that may be included, NULL-terminated */
	bool include_credentials; /* what runtime/credentials denies is learnt like anything else */
	const char *amends;	  /* a policy to amend, by its name or file; NULL: write a policy */
};

#define LEARN_CREDENTIALS "runtime/credentials"

struct learned {
	char *text;			/* YAML */
	struct compiled_policy *policy; /* the same, compiled */
	size_t accesses;		/* distinct logged accesses */
	size_t allowed;			/* accesses that were checked and that the policy allows */
	size_t credentials;		/* left out by choice */
	size_t impossible;		/* accesses that no policy can allow */
	size_t capabilities;		/* capabilities that the policy grants */
	char *failures;			/* accesses that it does not allow, one line each; "" */
	char *cautions;			/* further notes, one line each; "" */
};

/*
 * -ENODATA: no accesses were recorded; -EINVAL: a fragment or the result does not compile, see
 * `diagnostics`; -ENOMEM. Release with learned_release().
 */
int learn_policy(const struct recording *recording, const struct learn_options *options,
		 struct diagnostics *diagnostics, struct learned *ret_learned);

void learned_release(struct learned *learned);

#endif
