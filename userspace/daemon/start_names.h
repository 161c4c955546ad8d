/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user of the log's writers and the groups of the sockets. Workers look them up for the start:
 * first in the files of /etc, then the missing names in the host's other databases. These may be
 * unresponsive.
 */
#ifndef CORDON_DAEMON_START_NAMES_H
#define CORDON_DAEMON_START_NAMES_H

#include "daemon/execution/context.h"

struct start_names;

/* Called once if the databases reply after the start. */
typedef void start_names_late(void *context);

/*
 * Adds `user` and the groups to daemon->names. After 1.5 s without a reply it returns all the same,
 * and calls `late` when the reply comes. Returns 0, -ENOMEM, or -errno of fork(2).
 */
int start_names_find(struct daemon *daemon, const char *user, start_names_late *late, void *context,
		     struct start_names **ret_names, struct failure *failure);

/* Whether the databases have not replied yet: a name that is missing may exist. */
bool start_names_wait(const struct start_names *names);

void start_names_free(struct start_names *names);

#endif
