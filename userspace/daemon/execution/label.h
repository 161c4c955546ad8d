/* SPDX-License-Identifier: Apache-2.0 */
/* The second step of an execution: its first task, held by its parent, gets its label. */
#ifndef CORDON_DAEMON_LABEL_H
#define CORDON_DAEMON_LABEL_H

#include "daemon/execution/execution.h"

/*
 * Labels its first task, a child of the owner, and has the start record written:
 * daemon->execution_begun() says when.
 */
int execution_label(struct execution *e, json_t *message, struct protocol_fds *fds,
		    const struct peer *peer, struct failure *failure);

/* Steps of a start, for those that are not started by execution_label(). */
int execution_check_descriptors(struct execution *e, int pidfd, struct failure *failure);
int execution_append_start(struct execution *e, struct failure *failure);
int execution_start_unwritten(const struct execution *e, int error, struct failure *failure);

#endif
