/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last presence message of a host's shipper about itself and the daemon: cordon.presence.<host
 * id>. No I/O.
 */
#ifndef CORDON_FLEET_STORE_PRESENCE_H
#define CORDON_FLEET_STORE_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/store/delivery.h"

enum presence_state {
	PRESENCE_UNKNOWN, /* no message yet */
	PRESENCE_SHIPPING,
	PRESENCE_LEAVING,
	PRESENCE_REWRITTEN,
};

enum presence_daemon {
	PRESENCE_DAEMON_UNKNOWN,
	PRESENCE_RUNNING,
	PRESENCE_STOPPED,
	PRESENCE_KILLED,
};

/* Times and durations in ns. */
struct presence {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	enum presence_state state;
	enum presence_daemon daemon;
	uint64_t acknowledged; /* seq up to which the stream has all of `log`, as claimed */
	uint64_t every;	       /* interval of the messages */
	uint64_t at;	       /* when the server received it */
	uint64_t closed;       /* server had no connection when overdue; 0: unknown */
};

/*
 * Parses a message and limits its values. Sets all members except `at` and `closed`. Returns 0, or
 * -EBADMSG with *failure set.
 */
int presence_read(const char *subject, const char *data, size_t size, struct presence *presence,
		  struct failure *failure);

/* True if the next message is not overdue. */
bool presence_is_fresh(const struct presence *presence, uint64_t now);

#endif
