/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a compiled policy so that it only observes. */
#include <errno.h>
#include <string.h>

#include "base/hex.h"
#include "base/sha256.h"
#include "policy/compile/compile.h"

int compiled_policy_observe(struct compiled_policy *policy)
{
	struct cordon_policy_header header;
	int r;

	memcpy(&header, policy->tables, sizeof(header));
	header.flags |= CORDON_POLICY_OBSERVE;
	memset(header.digest, 0, sizeof(header.digest));
	memcpy(policy->tables, &header, sizeof(header));
	r = sha256_of(policy->tables, policy->tables_size, policy->digest);
	if (r < 0)
		return r;
	memcpy(policy->tables + offsetof(struct cordon_policy_header, digest), policy->digest,
	       sizeof(header.digest));
	hex_encode(policy->digest, sizeof(policy->digest), policy->digest_text);
	policy->observe = true;
	return 0;
}
