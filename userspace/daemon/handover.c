/* SPDX-License-Identifier: Apache-2.0 */
/* Hands over from one daemon to the next, so that there is one at a time. */
#include "daemon/handover.h"

#include <jansson.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "control/client.h"
#include "control/lock.h"
#include "control/protocol.h"

/* It may be in the middle of unloading: some 10 s, minutes on a crowded machine. */
#define LEAVING_SECONDS 180
#define ANSWER_SECONDS	10
#define RETRY_MSEC	20

static int another_runs(struct failure *failure)
{
	return failure_replace(failure, EBUSY, "another cordon daemon runs");
}

/* -EBUSY: it is to stay, or hangs; -ECONNRESET: it went away, or does not serve any more. */
static int ask_whether_embedded(int socket)
{
	_cleanup_(json_decrefp) json_t *status = NULL;
	struct failure ignored = {};
	int r = client_status(socket, &status, &ignored);

	if (r == -EAGAIN)
		return -EBUSY;
	if (r < 0)
		return -ECONNRESET;
	return json_is_true(json_object_get(status, "embedded")) ? 0 : -EBUSY;
}

/* 0: told to leave, or not there at the moment, as while it starts or leaves. */
static int tell_to_leave(struct failure *failure)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	_cleanup_(closep) int socket = -1, pidfd = -1;
	struct failure ignored = {};
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int r;

	if (client_connect(&socket, &ignored) < 0)
		return 0;
	if (setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return failure_set(failure, errno, "cannot talk to the daemon that runs: %m");
	/* Opened before it answers, so its number is its own. */
	pidfd = pidfd_open(peer.pid, 0);
	if (pidfd < 0)
		return 0;
	r = ask_whether_embedded(socket);
	if (r == -EBUSY)
		return another_runs(failure);
	if (r == 0)
		(void)pidfd_send_signal(pidfd, HANDOVER_SIGNAL, NULL, 0);
	return 0;
}

int handover_lock(bool embedded, int *ret_lock, struct failure *failure)
{
	const struct timespec pause = {.tv_nsec = RETRY_MSEC * (long)NSEC_PER_MSEC};
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + LEAVING_SECONDS * NSEC_PER_SEC;

	for (;;) {
		struct failure why = {};
		int r = lock_take(LOCK_DAEMON, false, ret_lock, &why);

		if (r >= 0)
			return r;
		if (r != -EWOULDBLOCK)
			return failure_set(failure, r, "%s", why.text);
		if (embedded)
			return another_runs(failure);
		r = tell_to_leave(failure);
		if (r < 0)
			return r;
		if (clock_nsec(CLOCK_MONOTONIC) >= end)
			return failure_set(failure, ETIMEDOUT,
					   "a daemon that `cordon run` started does not leave");
		(void)nanosleep(&pause, NULL);
	}
}
