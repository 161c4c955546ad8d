/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity and capabilities of the child: worked out before it exists, applied inside it. What is
 * applied cannot be undone by the child, neither by a system call nor by an exec.
 */
#ifndef CORDON_LAUNCH_PRIVILEGES_H
#define CORDON_LAUNCH_PRIVILEGES_H

#include <stdint.h>
#include <sys/capability.h>

#include "launch/launch.h"

struct privileges {
	const struct launch_identity *identity; /* not owned */
	uint64_t bounding;			/* what stays in the bounding set */
	cap_t sets;				/* permitted and effective, nothing inheritable */
};

/*
 * The ceiling holds for uid 0 only; any other uid is left without capabilities.
 * -ENOMEM; -errno of capget(2).
 */
int privileges_prepare(const struct launch_identity *identity, uint64_t ceiling,
		       struct privileges *ret_privileges);
void privileges_release(struct privileges *privileges);

/*
 * For the child, async-signal-safe; in this order, because the first and the second need the
 * capabilities that the third takes away. -errno of the step that failed; -EPERM: also where the
 * old identity could be had again.
 */
int privileges_drop_bounding(const struct privileges *privileges);
int privileges_set_identity(const struct privileges *privileges);
int privileges_set_capabilities(const struct privileges *privileges);

#endif
