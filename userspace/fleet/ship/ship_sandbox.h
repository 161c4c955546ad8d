/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shipper keeps of its rights: to read the log, to write its state, and to talk to one
 * destination.
 */
#ifndef CORDON_FLEET_SHIP_SANDBOX_H
#define CORDON_FLEET_SHIP_SANDBOX_H

#include <stdint.h>

#include "base/failure.h"

struct ship_sandbox {
	const char *log;	  /* directory to read */
	const char *state;	  /* directory to write */
	const char *const *files; /* to read, NULL-terminated; all must exist */
	uint16_t port;		  /* to connect to; 0: any */
};

/*
 * For good: no capability, no new privileges; by Landlock nothing but these files and what
 * resolving names needs, and no other TCP port (Linux 6.7); by seccomp no program, no file's mode,
 * no mount, no process but itself. A kernel without Landlock leaves the rest. -errno of what
 * failed, with `failure`.
 */
int ship_sandbox_enter(const struct ship_sandbox *sandbox, struct failure *failure);

#endif
