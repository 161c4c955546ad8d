/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a command is to run as, from what a person writes. */
#ifndef CORDON_LAUNCH_IDENTITY_H
#define CORDON_LAUNCH_IDENTITY_H

#include "launch/launch.h"

/*
 * NAME|UID[:GROUP|GID]. Without a group: the user's own and all that the user is a member of.
 * With one: that group alone. A number without an account needs the group.
 *
 * -EINVAL: not of that form, or a uid without account and group; -ENOENT: no such user or group;
 * -ENOMEM; -errno of the user database. Caller releases.
 */
int identity_resolve(const char *text, struct launch_identity *ret_identity,
		     struct failure *failure);

/*
 * The uid or gid that `text` is. False: it is no number, or not one of these. (uid_t)-1 means
 * "leave as it is" to the kernel, and is none.
 */
bool identity_parse_id(const char *text, unsigned int *ret_id);

void identity_release(struct launch_identity *identity);

#endif
