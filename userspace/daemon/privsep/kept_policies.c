/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the digests of policies that are kept beside a log. */
#include "daemon/privsep/kept_policies.h"

#include <stdlib.h>
#include <string.h>

bool kept_policies_has(const struct kept_policies *kept, const unsigned char digest[SHA256_SIZE])
{
	for (size_t i = 0; i < kept->count; i++)
		if (memcmp(kept->digests[i], digest, SHA256_SIZE) == 0)
			return true;
	return false;
}

void kept_policies_add(struct kept_policies *kept, const unsigned char digest[SHA256_SIZE])
{
	if (kept_policies_has(kept, digest))
		return;
	if (!kept->digests)
		kept->digests = calloc(KEPT_POLICIES_MAX, sizeof(*kept->digests));
	if (!kept->digests)
		return;
	memcpy(kept->digests[kept->next], digest, SHA256_SIZE);
	kept->next = (kept->next + 1) % KEPT_POLICIES_MAX;
	if (kept->count < KEPT_POLICIES_MAX)
		kept->count++;
}

void kept_policies_release(struct kept_policies *kept)
{
	free(kept->digests);
	*kept = (struct kept_policies){};
}
