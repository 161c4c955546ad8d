/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary directory of an execution, behind ${tmp}. */
#ifndef CORDON_DAEMON_TMPDIR_H
#define CORDON_DAEMON_TMPDIR_H

#include <sys/types.h>

#include "base/failure.h"

/*
 * Makes `name` in `parent` with mode 0700, owned by uid and gid. *ret_fd: a descriptor of it.
 * -EEXIST; or what the file system said.
 */
int tmpdir_create(const char *parent, const char *name, uid_t uid, gid_t gid, int *ret_fd,
		  struct failure *failure);

/*
 * Removes `name` in `parent` with all that is in it, whatever that is: symlinks are not followed,
 * other file systems mounted inside are not entered, any depth needs two descriptors. Takes away at
 * most `budget` entries in one call, so that the caller can do something else in between.
 *
 * 0: gone (or never there); -EAGAIN: there is more, call again; -EBUSY: something is mounted in
 * it; or what the file system said.
 */
int tmpdir_remove(const char *parent, const char *name, unsigned int budget);

#endif
