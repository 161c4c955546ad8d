/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon has to read of an earlier daemon's executions: what their logs have of them, and
 * the policies that they run under. Both may lie on a file system that does not answer, so
 * processes beside the loop read them, while the daemon serves. Until an execution's part is read
 * (`unread` is 0), its events are kept and its end is not recorded; its deadline, its kill and its
 * label do not wait.
 */
#ifndef CORDON_DAEMON_RECOVERY_WORK_H
#define CORDON_DAEMON_RECOVERY_WORK_H

#include "daemon/execution/execution.h"
#include "daemon/execution/state.h"

/* Accounts of their own with errand.h, which no user has: see ERRANDS_AT_A_TIME. */
#define RECOVERY_UID_LOG     ((uid_t) - 2)
#define RECOVERY_UID_POLICY  ((uid_t) - 3)
#define RECOVERY_UID_WORKDIR ((uid_t) - 4)

/* Sums for the record of a recovery. */
struct recovery_counts {
	uint64_t executions, resumed, cgroups, directories, states, failures;
};

/* Makes daemon->recovery if there is none. NULL without memory. */
struct recovery_counts *recovery_work_counts(struct daemon *daemon);

/* Has read what the execution's log has of it. -ENOMEM. */
int recovery_work_recall(struct execution *e);

/*
 * Has read the policy with the digest of e->recovered_policy: compiled from `name` if its files are
 * as they were, else what the log in `log` keeps. -ENOMEM.
 */
int recovery_work_policy(struct execution *e, const char *name, bool observe, const char *log);

/*
 * The end of an execution that has no slot any more is recorded, unless its log has it, and what it
 * left is removed after that. Takes `state` over. -ENOMEM.
 */
int recovery_work_lost(struct daemon *daemon, const char *id, struct state *state);

/* Keeps trying to remove the cgroup, which was busy, for a while. -ENOMEM. */
int recovery_work_cgroup(struct daemon *daemon, const char *name);

/* Starts what was asked for since the last call. `record`: the recovery is recorded at its end. */
void recovery_work_begin(struct daemon *daemon, bool record);

/* For the daemon's end: gives up what is under way, as if nothing could be read. */
void recovery_work_stop(struct daemon *daemon);

#endif
