/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shipper's sandbox. It permits to read the log, to write the state, and to connect to one
 * destination.
 */
#ifndef CORDON_FLEET_SHIP_SANDBOX_H
#define CORDON_FLEET_SHIP_SANDBOX_H

#include <stdint.h>

#include "base/failure.h"

struct ship_sandbox {
	const char *log;	  /* directory, readable */
	const char *state;	  /* directory, writable */
	const char *const *files; /* readable files, NULL-terminated; all must exist */
	uint16_t port;		  /* TCP port for connections; 0: any */
};

/*
 * Enters the sandbox irreversibly: no capabilities and no new privileges. Landlock denies all files
 * except these and the files for resolving names, and from Linux 6.7 on all other TCP ports.
 * seccomp denies exec, chmod, mounts and access to other processes. On a kernel without Landlock
 * the other restrictions still apply.
 *
 * Returns 0, or the -ERRNO of the step that failed, with *failure set.
 */
int ship_sandbox_enter(const struct ship_sandbox *sandbox, struct failure *failure);

#endif
