/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a log is: the user that its writer is, and the directory that is given to it. */
#ifndef CORDON_DAEMON_WRITER_DIRECTORY_H
#define CORDON_DAEMON_WRITER_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"

/* Where there is a user of this name, it is the one. */
#define WRITER_USER "cordon"
/*
 * Else this one: between what Debian gives out and what systemd does (61184 to 65519), and nobody.
 */
#define WRITER_UID 65530u

/*
 * `name`: a user's name or number; NULL: the one by default. -ENOENT: there is none of that name;
 * -EINVAL: root; or what the user database said.
 */
int writer_user_find(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct failure *failure);

/* The same after a lookup: `found`, with its ids in *ret_uid and *ret_gid, or not. */
int writer_user_of(const char *name, bool found, uid_t *ret_uid, gid_t *ret_gid,
		   struct failure *failure);

/*
 * Opens the log's directory, which is made if it is not there, with the writer's user as its owner.
 * One of root's becomes that user's, with the log's files, if it is empty or holds a log.
 *
 * -ENOTEMPTY: it holds something else; -EPERM: it belongs to somebody else; or what the file system
 * said.
 */
int writer_directory_open(const char *directory, uid_t uid, gid_t gid, struct failure *failure);

#endif
