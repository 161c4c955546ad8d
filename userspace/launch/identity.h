/* SPDX-License-Identifier: Apache-2.0 */
/* The user and groups that a command runs as. */
#ifndef CORDON_LAUNCH_IDENTITY_H
#define CORDON_LAUNCH_IDENTITY_H

#include "launch/launch.h"

/*
 * Parses NAME|UID[:GROUP|GID]. Without a group the identity has the user's primary and
 * supplementary groups, with one only that group. A UID without an account requires a group.
 *
 * Returns 0, -EINVAL for another form or a uid without account and group, -ENOENT if the user or
 * group does not exist, -ENOMEM, or the -ERRNO of the user database. The caller calls
 * identity_release().
 */
int identity_resolve(const char *text, struct launch_identity *ret_identity,
		     struct failure *failure);

/*
 * Parses a decimal uid or gid. Returns false for any other text, and for (uid_t)-1, because it
 * means "unchanged" to the kernel.
 */
bool identity_parse_id(const char *text, unsigned int *ret_id);

void identity_release(struct launch_identity *identity);

#endif
