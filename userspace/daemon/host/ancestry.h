/* SPDX-License-Identifier: Apache-2.0 */
/* Who started a process: it and those above it, as /proc shows them now. */
#ifndef CORDON_DAEMON_ANCESTRY_H
#define CORDON_DAEMON_ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "audit/record/record.h"
#include "base/parcel.h"

/*
 * `pid` first, then its parent, and so on: AUDIT_STARTERS_MAX at most. With `arguments` their
 * digests, too: these stand in memory of the processes themselves, so reading may take for ever.
 * How many were found; -ENOMEM. Caller frees with audit_starters_free().
 */
int ancestry_read(pid_t pid, bool arguments, struct audit_starter **ret_starters);

/* For another process of the same program. */
void ancestry_put(FILE *to, const struct audit_starter *starters, size_t count);
/* How many there are; -EPROTO: it makes no sense; -ENOMEM. */
int ancestry_take(struct parcel *from, struct audit_starter **ret_starters);

#endif
