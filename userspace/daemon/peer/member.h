/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client that is not root may have done for it. The daemon is root: whatever it opens, gives
 * away, moves or labels on a client's word must be the client's already.
 */
#ifndef CORDON_DAEMON_MEMBER_H
#define CORDON_DAEMON_MEMBER_H

#include "base/failure.h"
#include "daemon/peer/peer.h"
#include "control/protocol.h"
#include "control/request.h"
#include "policy/core/compiled.h"

/* A policy by its name, not by a file that the daemon would open as root. */
bool member_is_plain_name(const char *policy);

/*
 * Before anything is done: a policy by name, the daemon's log, enforcing, as the user and one of
 * the groups that the client has. -EPERM.
 */
int member_check_request(const struct peer *peer, const struct prepare_request *request,
			 struct failure *failure);

/*
 * The directories that came along, in the order of the request: on file systems that answer (a
 * user's own file system might never), and home the one of the account, as far as that is known.
 * -EPERM.
 */
int member_check_directories(const struct peer *peer, const struct prepare_request *request,
			     const int *fds, size_t count, struct failure *failure);

/* May the client run something under this policy? -EPERM. */
int member_check_policy(const struct peer *peer, const struct compiled_policy *policy,
			struct failure *failure);

/*
 * What the daemon's own reading of a policy says is not for everybody who may name it: `message`,
 * if there is one, goes, and `failure` says whom to ask. `error`.
 */
int member_hide_diagnostics(const char *policy, int error, char **message, struct failure *failure);

/*
 * The held child: all its user ids are the client's, it has no capability, and can never gain
 * either again (no_new_privs). -EPERM, -ESRCH.
 */
int member_check_child(const struct peer *peer, pid_t pid, struct failure *failure);

/* Of the text of /proc/PID/status; for tests. */
int member_check_status(const char *status, uid_t uid, struct failure *failure);

/* The type of mount `id` in the text of /proc/self/mountinfo, or -ENOENT. */
int member_mount_type(const char *mountinfo, int id, char ret_type[64]);

#endif
