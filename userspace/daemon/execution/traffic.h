/* SPDX-License-Identifier: Apache-2.0 */
/* Puts on record what an execution has sent and received, by where it went and came from. */
#ifndef CORDON_DAEMON_TRAFFIC_H
#define CORDON_DAEMON_TRAFFIC_H

#include "daemon/execution/execution.h"

/* At the end, when e->end is filled and before its record. */
void traffic_append(struct execution *e);

#endif
