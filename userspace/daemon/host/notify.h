/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a service manager how the daemon is doing: the protocol of sd_notify(3), which is one
 * datagram of text. Written here, because libsystemd would bring its own and its compressors' code
 * into a process that is root and owns the enforcement.
 */
#ifndef CORDON_DAEMON_NOTIFY_H
#define CORDON_DAEMON_NOTIFY_H

#include <stdint.h>

/*
 * Sends "READY=1" and the like to where $NOTIFY_SOCKET says; nothing where that is not set.
 * -EINVAL: it names no socket; -errno.
 */
int notify(const char *state);

/* How often the manager wants to hear "WATCHDOG=1", in ns: half of what it allows. 0: never. */
uint64_t notify_watchdog_nsec(void);

#endif
