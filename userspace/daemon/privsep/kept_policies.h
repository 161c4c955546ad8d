/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches the digests of policies that are stored next to a log, see audit/storage/policy_store.h. A
 * hit avoids an access to the log's file system, which may not respond.
 */
#ifndef CORDON_DAEMON_KEPT_POLICIES_H
#define CORDON_DAEMON_KEPT_POLICIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"

/*
 * Digests in the cache. If there are more, the oldest is dropped, and its policy is looked up
 * again.
 */
#define KEPT_POLICIES_MAX 256u

/* Initialize it with zeros. */
struct kept_policies {
	unsigned char (*digests)[SHA256_SIZE];
	size_t count, next;
};

bool kept_policies_has(const struct kept_policies *kept, const unsigned char digest[SHA256_SIZE]);

/* If there is no memory, the digest is not cached. */
void kept_policies_add(struct kept_policies *kept, const unsigned char digest[SHA256_SIZE]);

void kept_policies_release(struct kept_policies *kept);

#endif
