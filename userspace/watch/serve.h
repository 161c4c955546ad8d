/* SPDX-License-Identifier: Apache-2.0 */
/* Answers HTTP requests for the series, in the loop of whoever calls. */
#ifndef CORDON_WATCH_SERVE_H
#define CORDON_WATCH_SERVE_H

#include "base/failure.h"
#include "watch/feed.h"

struct serve;

/*
 * Takes over the listening socket, even on failure; `feed` stays the caller's. -ENOMEM, or as the
 * library says.
 */
int serve_start(int listen_fd, struct feed *feed, struct serve **ret_serve,
		struct failure *failure);
void serve_free(struct serve *serve);
DEFINE_CLEANUP(struct serve *, serve_free, serve_freep)

/* To be polled for reading; then, and when so many ms have passed (-1: never), serve_go_on(). */
int serve_fd(const struct serve *serve);
int serve_timeout_msec(const struct serve *serve);
void serve_go_on(struct serve *serve);

#endif
