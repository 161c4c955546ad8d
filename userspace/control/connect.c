/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a client to the running daemon, or starts one. */
#include "control/connect.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "control/client.h"
#include "control/lock.h"

/* An exiting daemon detaches its programs one by one: some 10 s, minutes on a busy machine. */
#define LEAVING_TIMEOUT_SECONDS 180
#define RETRY_MSEC		20
/* The daemon may have room when a run ends. */
#define CROWDED_TIMEOUT_SECONDS 10

static void pause_briefly(void)
{
	const struct timespec pause = {.tv_nsec = RETRY_MSEC * (long)NSEC_PER_MSEC};

	(void)nanosleep(&pause, NULL);
}

/*
 * Connects, and checks with a request that the daemon stays, because an exiting daemon may still
 * accept the connection.
 */
static int try_connect(int *ret_socket, struct failure *failure)
{
	_cleanup_(closep) int fd = -1;
	int r = client_connect(&fd, failure);

	if (r == 0)
		r = client_hello(fd, failure);
	if (r == 0)
		*ret_socket = TAKE_FD(fd);
	return r;
}

/* The same, but waits for a free place. */
static int connect_patiently(int *ret_socket, struct failure *failure)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + CROWDED_TIMEOUT_SECONDS * NSEC_PER_SEC;

	for (;;) {
		int r;

		failure->text[0] = '\0';
		r = try_connect(ret_socket, failure);
		if (r != -EUSERS || clock_nsec(CLOCK_MONOTONIC) >= end)
			return r;
		pause_briefly();
	}
}

static bool nobody_there(int error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ECONNRESET;
}

static void say_waiting(void)
{
	static const char text[] = "cordon: waiting for a daemon that is starting or leaving\n";

	if (isatty(STDERR_FILENO) && write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

/*
 * Called under the start lock if no daemon accepts connections. If a daemon holds the daemon lock,
 * it is starting or exiting: wait. Otherwise starts one.
 */
static int start_and_connect(embedded_step *step, void *data, int *ret_socket,
			     struct failure *failure)
{
	uint64_t end = clock_nsec(CLOCK_MONOTONIC) + LEAVING_TIMEOUT_SECONDS * NSEC_PER_SEC;
	bool said = false;

	for (;;) {
		_cleanup_(closep) int lock = -1;
		struct failure quiet = {};
		int r = connect_patiently(ret_socket, &quiet);

		if (r == 0)
			return 0;
		if (!nobody_there(r))
			return failure_set(failure, r, "%s", quiet.text);
		quiet.text[0] = '\0';
		r = lock_take(LOCK_DAEMON, false, &lock, &quiet);
		if (r == 0) {
			closep(&lock);
			lock = -1;
			r = embedded_start(step, data, failure);
			if (r < 0 && r != -EBUSY)
				return r;
			continue;
		}
		if (r != -EWOULDBLOCK)
			return failure_set(failure, r, "%s", quiet.text);
		if (clock_nsec(CLOCK_MONOTONIC) >= end)
			return failure_set(failure, ETIMEDOUT,
					   "a cordon daemon is there but accepts no connection "
					   "after %d s; see agent.log in its log directory",
					   LEAVING_TIMEOUT_SECONDS);
		if (!said)
			say_waiting();
		said = true;
		pause_briefly();
	}
}

int client_connect_or_start(embedded_step *step, void *data, int *ret_socket,
			    struct failure *failure)
{
	_cleanup_(closep) int start_lock = -1;
	struct failure quiet = {};
	int r = connect_patiently(ret_socket, &quiet);

	if (r == 0)
		return 0;
	if (!nobody_there(r))
		return failure_set(failure, r, "%s", quiet.text);
	if (geteuid() != 0)
		return failure_set(
			failure, EPERM,
			"no cordon daemon is running, and only root can start one: start "
			"it (systemctl start cordon), or run this as root");
	r = lock_take(LOCK_START, true, &start_lock, failure);
	if (r < 0)
		return r;
	return start_and_connect(step, data, ret_socket, failure);
}
