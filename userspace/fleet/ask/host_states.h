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
 * `expected`: a file with the id of a host a line, behind it the operator's name for it ('#' begins
 * a comment); these are among the hosts even if nothing was ever heard of them; NULL: none. Names
 * that hosts give themselves do not count: any host can take any. -EINVAL: a line has no id; -errno
 * of reading it, -EIO, -ENOMEM.
 */
int host_states_read(struct rows *rows, const char *expected, struct host_states *ret_states,
		     struct failure *failure);
void host_states_free(struct host_states *states);
/* The host with that id; NULL: there is none. */
const struct completeness_host *host_states_find(const struct host_states *states,
						 const char *host);

#endif
