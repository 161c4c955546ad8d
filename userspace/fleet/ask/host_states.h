/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the state of each host from the store's rows. */
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
 * Reads all hosts. `expected`: a file with a host ID per line, optionally followed by the
 * operator's name for it; '#' begins a comment; NULL: none. Expected hosts are included even if
 * they never sent anything. They are not matched by the names that hosts report, because a host can
 * report any name.
 *
 * Returns 0, -EINVAL if a line has no ID, the -ERRNO of reading the file, -EIO, or -ENOMEM.
 */
int host_states_read(struct rows *rows, const char *expected, struct host_states *ret_states,
		     struct failure *failure);
void host_states_free(struct host_states *states);
/* Returns the host with this ID, or NULL. */
const struct completeness_host *host_states_find(const struct host_states *states,
						 const char *host);

#endif
