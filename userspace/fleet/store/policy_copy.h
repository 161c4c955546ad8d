/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies that were in force on a host, beside the copy of its log and in the layout that is
 * there: so that whatever asks a log's policies asks the copy's.
 */
#ifndef CORDON_FLEET_POLICY_COPY_H
#define CORDON_FLEET_POLICY_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/failure.h"

/* 64 digits. */
bool policy_copy_is_digest(const char *digest);

/*
 * Keeps the file beside the log in `log`, unless it is there. Its tables must have the digest; its
 * texts are what the host says. `store`: the store's directory, where it waits until that is known.
 * 1: it was there; -EBADMSG: it is not that policy; -EAGAIN: it cannot be read now; -errno.
 */
int policy_copy_keep(const char *store, const char *log, const char *digest, const char *data,
		     size_t size, struct failure *failure);

#endif
