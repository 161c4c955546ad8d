/* SPDX-License-Identifier: Apache-2.0 */
/* Computes an execution's limits: the policy's, lowered by the caller's request. */
#include "launch/lower_limits.h"

#include "launch/limits.h"

_Static_assert(sizeof(struct policy_limits) == LIMIT_KINDS * sizeof(uint64_t),
	       "every limit is compared");

static int refuse(const struct limit_kind *kind, uint64_t have, uint64_t want,
		  struct failure *failure)
{
	char have_text[LIMIT_TEXT_SIZE], want_text[LIMIT_TEXT_SIZE];

	limit_format(kind, have, have_text);
	limit_format(kind, want, want_text);
	return failure_set(failure, EPERM,
			   "--%s %s is more than the policy's %s; a request can only lower a "
			   "limit (raise it in the policy)",
			   kind->option, want_text, have_text);
}

int limits_lower(const struct policy_limits *policy, const struct policy_limits *asked,
		 struct policy_limits *ret_limits, struct failure *failure)
{
	struct policy_limits lowered = *policy, wanted = *asked;

	for (size_t i = 0; i < LIMIT_KINDS; i++) {
		uint64_t *have = limit_of(&lowered, &limit_kinds[i]);
		uint64_t want = *limit_of(&wanted, &limit_kinds[i]);

		if (want == 0)
			continue;
		if (*have > 0 && want > *have)
			return refuse(&limit_kinds[i], *have, want, failure);
		*have = want;
	}
	*ret_limits = lowered;
	return 0;
}
