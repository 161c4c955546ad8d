/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what executions did to a policy that allows it: fragments where they cover much of it,
 * patterns where names will be others next time, else the names themselves; with the evidence
 * beside each rule. The result is compiled, and every recorded access asked of it again.
 */
#ifndef CORDON_INSIGHT_LEARN_H
#define CORDON_INSIGHT_LEARN_H

#include "insight/recording/recording.h"
#include "policy/compile/compile.h"

struct learn_options {
	const char *name; /* of the policy */
	const struct policy_search *search;
	const char *const *fragments; /* that may be included, NULL-terminated */
	bool include_credentials; /* what runtime/credentials denies is learnt like anything else */
	const char *amends;	  /* a policy to amend, by its name or file; NULL: write a policy */
};

#define LEARN_CREDENTIALS "runtime/credentials"

struct learned {
	char *text;			/* YAML */
	struct compiled_policy *policy; /* the same, compiled */
	size_t accesses;		/* distinct ones on record */
	size_t allowed;			/* of these: allowed by the policy, each was asked */
	size_t credentials;		/* left out by choice */
	size_t impossible;		/* that no policy can allow */
	size_t capabilities;		/* that the policy grants */
	char *failures;			/* accesses that it fails to allow, a line each; "" */
	char *cautions;			/* what else to know, a line each; "" */
};

/*
 * -ENODATA: nothing was accessed; -EINVAL: a fragment or the result does not compile, see
 * `diagnostics`;
 * -ENOMEM. Release with learned_release().
 */
int learn_policy(const struct recording *recording, const struct learn_options *options,
		 struct diagnostics *diagnostics, struct learned *ret_learned);

void learned_release(struct learned *learned);

#endif
