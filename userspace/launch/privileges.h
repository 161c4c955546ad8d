/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares the child's identity and capabilities in the parent, and applies them in the child.
 * Invariant: the child cannot undo them by a system call or an exec.
 */
#ifndef CORDON_LAUNCH_PRIVILEGES_H
#define CORDON_LAUNCH_PRIVILEGES_H

#include <stdint.h>
#include <sys/capability.h>

#include "launch/launch.h"

struct privileges {
	const struct launch_identity *identity; /* not owned */
	uint64_t bounding;			/* capabilities kept in the bounding set */
	cap_t sets;				/* permitted and effective; none inheritable */
};

/*
 * The ceiling applies to uid 0 only; other uids get no capabilities. Returns 0, -ENOMEM, or the
 * -ERRNO of capget(2).
 */
int privileges_prepare(const struct launch_identity *identity, uint64_t ceiling,
		       struct privileges *ret_privileges);
void privileges_release(struct privileges *privileges);

/*
 * Apply the privileges in the child; async-signal-safe. Call them in this order, because the first
 * two need the capabilities that the third drops. Return 0, the -ERRNO of the failed step, or
 * -EPERM, also if the old identity could be regained.
 */
int privileges_drop_bounding(const struct privileges *privileges);
int privileges_set_identity(const struct privileges *privileges);
int privileges_set_capabilities(const struct privileges *privileges);

#endif
