/* SPDX-License-Identifier: Apache-2.0 */
/* Serves metrics over HTTP in the caller's event loop. */
#ifndef CORDON_WATCH_SERVE_H
#define CORDON_WATCH_SERVE_H

#include "base/failure.h"
#include "watch/feed.h"

struct serve;

/*
 * Takes ownership of the listening socket, even on failure; `feed` must outlive the server. Returns
 * 0, -ENOMEM, or -ENOTSUP if it cannot be polled.
 */
int serve_start(int listen_fd, struct feed *feed, struct serve **ret_serve,
		struct failure *failure);
void serve_free(struct serve *serve);
DEFINE_CLEANUP(struct serve *, serve_free, serve_freep)

/*
 * Poll serve_fd() for reading. Call serve_go_on() then, or after serve_timeout_msec() (-1: no
 * timeout).
 */
int serve_fd(const struct serve *serve);
int serve_timeout_msec(const struct serve *serve);
void serve_go_on(struct serve *serve);

#endif
