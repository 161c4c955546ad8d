/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host's shipper says of itself and of the daemon beside it: cordon.presence.<host id>.
 * Pure.
 */
#ifndef CORDON_FLEET_STORE_PRESENCE_H
#define CORDON_FLEET_STORE_PRESENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/store/delivery.h"

enum presence_state {
	PRESENCE_UNKNOWN, /* it never said */
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

/* Moments and durations in ns. */
struct presence {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	enum presence_state state;
	enum presence_daemon daemon;
	uint64_t acknowledged; /* seq up to which the stream is said to have all of `log` */
	uint64_t every;	       /* until the next word */
	uint64_t at;	       /* when it came to the server */
	uint64_t
		closed; /* when the server had no connection of it although its word was due; 0: not known */
};

/*
 * What has no bound in the message has one here. Sets all but `at` and `closed`. -EBADMSG: *failure
 * says why.
 */
int presence_read(const char *subject, const char *data, size_t size, struct presence *presence,
		  struct failure *failure);

/* Is its next word not overdue? */
bool presence_is_fresh(const struct presence *presence, uint64_t now);

#endif
