/* SPDX-License-Identifier: Apache-2.0 */
/* The first step of an execution: all that it needs before there is a process. */
#ifndef CORDON_DAEMON_PREPARE_H
#define CORDON_DAEMON_PREPARE_H

#include "daemon/execution/execution.h"
#include "daemon/execution/places.h"

/*
 * Makes an execution from a request and its descriptors, which it takes over (even on failure).
 * `log`: the one that it names, or NULL for the daemon's; stays the caller's reference. `places`:
 * checks of the descriptors.
 * *ret_message: text for the caller that is longer than a failure holds, or NULL; caller frees.
 */
int execution_prepare(struct daemon *daemon, json_t *message, struct protocol_fds *fds,
		      const struct peer *peer, struct log_use *log, const struct places *places,
		      void *connection, struct execution **ret_execution, char **ret_message,
		      struct failure *failure);

/*
 * Has the kernel compare what is opened as the code with what was hashed; takes over e->code_fd.
 * -ENOENT: the policy pins the code, and there was no file; -errno of bpf(2).
 */
int execution_watch_code(struct execution *e, struct failure *failure);

/* For the start record: where the directory is now. -errno of readlink(2); -ENOMEM. */
int execution_note_directory(struct execution *e, const char *name, int fd);

#endif
