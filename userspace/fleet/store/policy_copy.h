/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the policies that were active on a host beside the copy of its log, in the same layout as
 * on the host. Code that reads a log's policies can therefore read the copy's.
 */
#ifndef CORDON_FLEET_POLICY_COPY_H
#define CORDON_FLEET_POLICY_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

/* True for 64 hexadecimal digits. */
bool policy_copy_is_digest(const char *digest);

/*
 * Stores a policy beside the log in `log`, unless it exists. Its tables must have the digest; its
 * source texts are not verified. `store`: the store's directory, which has the file until it is
 * verified. Returns 0, 1 if it existed, -EBADMSG if it is not this policy, -EAGAIN if it cannot be
 * read now, or -ERRNO.
 */
int policy_copy_keep(const char *store, const char *log, const char *digest, const char *data,
		     size_t size, struct failure *failure);

#endif
