/* SPDX-License-Identifier: Apache-2.0 */
/* Before the first instruction of an adopted execution. */
#ifndef CORDON_DAEMON_ADOPTED_PREPARE_H
#define CORDON_DAEMON_ADOPTED_PREPARE_H

#include "daemon/execution/execution.h"
#include "daemon/privsep/errand.h"

/*
 * Before the errand: the entry's own directories, which stay what they are as long as somebody has
 * them open. -errno of fcntl(2), readlink(2); -ENOMEM.
 */
int adopted_keep_directories(struct execution *e, struct failure *failure);

/*
 * An errand_work of an execution's, for its process, its code and its place may be on file systems
 * that do not answer: overwrites variables where the kernel could not and sets what
 * is to be set, takes digests, and looks at
 * the place. -ESRCH and others: its process is gone.
 */
int adopted_look(const void *context, FILE *to, struct errand_fds *fds, struct failure *failure);

/*
 * What that has found; looks at descriptors, and applies limits. Any failure: the execution must
 * not begin; `failure` says why.
 */
int adopted_prepare(struct execution *e, const char *data, size_t size, struct errand_fds *fds,
		    struct failure *failure);

/* Puts on record what a preparation found until it failed. */
void adopted_note_failed(struct execution *e, const char *data, size_t size);

#endif
