/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon approve` and `cordon approvals` share: asking the daemon, and showing an entry. */
#ifndef CORDON_CLI_DECIDE_H
#define CORDON_CLI_DECIDE_H

#include "control/client.h"
#include "insight/text/style.h"

enum decide_exit {
	DECIDE_DONE = 0,
	DECIDE_FAILED = 1,
	DECIDE_NOT_FOUND = 2,
};

/* Connects; -errno after a message. */
int decide_connect(int *ret_socket);

/* Has it decided, and says so. An exit status. */
int decide_ask(const struct client_decide *decide, bool json);

/* One of the `entries`, with what it allows; `entries` NULL: with the daemon's examples alone. */
void decide_write_entry(FILE *out, const struct style *style, const json_t *entries,
			const json_t *entry);

#endif
