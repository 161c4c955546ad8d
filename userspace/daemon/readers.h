/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that read clients' bytes for the daemon, one for each user: see reader_process.h. */
#ifndef CORDON_DAEMON_READERS_H
#define CORDON_DAEMON_READERS_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/failure.h"

struct readers;

/* -ENOMEM; -errno of /run/cordon/empty, their root. */
int readers_new(struct readers **ret_readers, struct failure *failure);
void readers_free(struct readers *readers);

/*
 * What one packet of a client of that user's says. -EBADMSG, -EMSGSIZE: it is none, and `failure` says why;
 * -EPROTO: its reader died or hung over it, and is replaced; -EAGAIN: none can be started; -ENOMEM.
 */
int readers_parse(struct readers *readers, uid_t uid, const char *data, size_t size,
		  json_t **ret_message, struct failure *failure);

#endif
