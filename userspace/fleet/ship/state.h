/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a host's log is with the fleet's store: one file, which says what the store's stream has acknowledged, and
 * which records were on their way. These are sent again in the same message, so that the stream knows it.
 */
#ifndef CORDON_FLEET_STATE_H
#define CORDON_FLEET_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/read/cursor.h"

struct ship_state {
	struct audit_cursor acknowledged; /* of all lines in order */
	uint64_t sending;		  /* the last of those on their way; 0: none are */
	uint64_t first;			  /* how far those that go ahead are acknowledged */
};

/* -ENOENT: there is none, *ret_state is empty; -EBADMSG: it holds something else; or what reading gave. */
int ship_state_load(const char *path, struct ship_state *ret_state);

/* Whole, over a crash of the machine too. -errno. */
int ship_state_save(const char *path, const struct ship_state *state);

#endif
