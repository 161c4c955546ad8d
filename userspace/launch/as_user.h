/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a user's files in a child process with only that user's rights. */
#ifndef CORDON_LAUNCH_AS_USER_H
#define CORDON_LAUNCH_AS_USER_H

#include <stddef.h>
#include <stdio.h>

#include "launch/launch.h"

/*
 * Writes the result to `to`. Runs in the child, which has a copy of the caller's memory and its
 * descriptors.
 */
typedef void as_user_work(const void *context, FILE *to);

/*
 * Runs `work` in a child with the identity's user and groups (the caller's, unless the identity
 * changes them), which has no capabilities and cannot gain any; kills it after `seconds`. Caller
 * frees *ret_data.
 *
 * Returns 0, -ETIMEDOUT, -EFBIG above `limit` bytes, -EPROTO if the child died, or -errno.
 */
int as_user_read(const struct launch_identity *identity, unsigned int seconds, size_t limit,
		 as_user_work *work, const void *context, char **ret_data, size_t *ret_size);

#endif
