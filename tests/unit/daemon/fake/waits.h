/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the waits of a test's process that end without an event, so that a test of code that must
 * not wait for what hangs needs no clock.
 */
#ifndef CORDON_TESTS_DAEMON_FAKE_WAITS_H
#define CORDON_TESTS_DAEMON_FAKE_WAITS_H

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Calls of poll(2) that ended with their timeout. libevent's own waits are of epoll. */
static unsigned int vain_waits;

/* In place of the C library's. */
int poll(struct pollfd *fds, nfds_t count, int msec)
{
	const struct timespec timeout = {msec / 1000, msec % 1000 * 1000000L};
	int ready = (int)syscall(SYS_ppoll, fds, count, msec < 0 ? NULL : &timeout, NULL, 0);

	vain_waits += msec != 0 && ready == 0;
	return ready;
}

#endif
