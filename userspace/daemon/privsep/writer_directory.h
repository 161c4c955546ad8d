/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the user of a log's writer, and makes that user the owner of the log's directory. */
#ifndef CORDON_DAEMON_WRITER_DIRECTORY_H
#define CORDON_DAEMON_WRITER_DIRECTORY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/failure.h"

/* The default user, if it exists. */
#define WRITER_USER "cordon"
/*
 * The default UID otherwise. Neither Debian nor systemd (61184 to 65519) allocate it, and it is not
 * 65534.
 */
#define WRITER_UID 65530u

/*
 * Finds the user `name`: a name or number, or NULL for the default. Returns 0, -ENOENT if there is
 * no such user, -EINVAL if it is root, or an error of the user database.
 */
int writer_user_find(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct failure *failure);

/* The same after a lookup. If `found`, *ret_uid and *ret_gid contain the user's ids. */
int writer_user_of(const char *name, bool found, uid_t *ret_uid, gid_t *ret_gid,
		   struct failure *failure);

/*
 * Opens the log's directory. If it does not exist, makes it with the writer's user as its owner. A
 * directory of root that is empty or contains a log becomes owned by that user, with the log's
 * files.
 *
 * Returns a descriptor, -ENOTEMPTY if the directory contains something else, -EPERM if it belongs
 * to a third user, or an error of the file system.
 */
int writer_directory_open(const char *directory, uid_t uid, gid_t gid, struct failure *failure);

#endif
