/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record that says now and then that the daemon is there, and how it stands: where none comes,
 * somebody elsewhere knows that it is not.
 */
#ifndef CORDON_DAEMON_HEARTBEAT_H
#define CORDON_DAEMON_HEARTBEAT_H

#include "daemon/execution/context.h"

/* Of what is in memory already. `every`: seconds until the next one. */
void heartbeat_record(struct daemon *daemon, unsigned int every);

#endif
