/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that read for the daemon what comes from outside, one for each user: see
 * reader_process.h.
 */
#ifndef CORDON_DAEMON_READERS_H
#define CORDON_DAEMON_READERS_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/failure.h"
#include "daemon/privsep/reader_process.h"

struct readers;

/*
 * `option`: what they are started with, see reader_process.h; not copied. -ENOMEM; -errno of
 * /run/cordon/empty, their root.
 */
int readers_new(const char *option, struct readers **ret_readers, struct failure *failure);
void readers_free(struct readers *readers); /* or NULL */

/*
 * What that user's reader makes of the parts together: ret_reply, and what follows it, which is
 * there until the next question. It may be anybody's word: readers_distrust() replaces one that
 * says what it cannot. -EPROTO: it died or hung over it, and is replaced; -EAGAIN: none can be
 * started, for the reason in errno.
 */
int readers_ask(struct readers *readers, uid_t uid, enum reader_kind kind,
		const struct iovec *parts, int count, struct reader_reply *ret_reply,
		const char **ret_data);
void readers_distrust(struct readers *readers, uid_t uid);

/*
 * What one packet of a client of that user's says. -EBADMSG, -EMSGSIZE: it is none, and `failure`
 * says why;
 * -EPROTO: its reader died or hung over it, and is replaced; -EAGAIN: none can be started; -ENOMEM.
 */
int readers_parse(struct readers *readers, uid_t uid, const char *data, size_t size,
		  json_t **ret_message, struct failure *failure);

#endif
