/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary directories that an earlier daemon left without an execution. They may hold anything,
 * and whoever owned them may be filling them: they are removed in slices while this daemon serves.
 * Only what has a state file is one of ours: anybody may make a directory in /tmp that is called
 * like it. The state file goes after it.
 */
#ifndef CORDON_DAEMON_LEFTOVERS_H
#define CORDON_DAEMON_LEFTOVERS_H

#include "daemon/execution/context.h"

/* Entries that are removed in one turn of the loop. */
#define LEFTOVERS_SLICE 500u

/* Takes note of the directory and the state file of an execution that is no more. -ENOMEM. */
int leftovers_add(struct daemon *daemon, const char *id);

/* Has them removed from the loop; until then there is something unfinished. -ENOMEM. */
int leftovers_start(struct daemon *daemon);
void leftovers_free(struct leftovers *leftovers); /* or NULL */

#endif
