/* SPDX-License-Identifier: Apache-2.0 */
/* What the store has of each host, from its rows. */
#ifndef CORDON_FLEET_HOST_STATES_H
#define CORDON_FLEET_HOST_STATES_H

#include "base/failure.h"
#include "fleet/ask/completeness.h"
#include "fleet/store/rows.h"

struct host_states {
	struct completeness_host *hosts;
	size_t count;
};

/*
 * `expected`: a file with the id or the name of a host a line ('#' begins a comment), which are
 * among the hosts even if nothing was ever heard of them; NULL: none. -errno of reading it, -EIO,
 * -ENOMEM.
 */
int host_states_read(struct rows *rows, const char *expected, struct host_states *ret_states,
		     struct failure *failure);
void host_states_free(struct host_states *states);

#endif
