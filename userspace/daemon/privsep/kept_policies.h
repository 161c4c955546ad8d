/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which policies are known to be kept beside a log: see audit/storage/policy_store.h. Whoever knows
 * need not ask the log's file system, which may not answer.
 */
#ifndef CORDON_DAEMON_KEPT_POLICIES_H
#define CORDON_DAEMON_KEPT_POLICIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sha256.h"

/* More than so many are looked for anew. */
#define KEPT_POLICIES_MAX 256u

/* All zero to begin with. */
struct kept_policies {
	unsigned char (*digests)[SHA256_SIZE];
	size_t count, next;
};

bool kept_policies_has(const struct kept_policies *kept, const unsigned char digest[SHA256_SIZE]);

/* Without memory it is not known. */
void kept_policies_add(struct kept_policies *kept, const unsigned char digest[SHA256_SIZE]);

void kept_policies_release(struct kept_policies *kept);

#endif
