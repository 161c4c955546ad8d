/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a host's log is with the fleet's store: a file that says what the store's stream has
 * acknowledged, and which records were on their way. These are sent again in the same message, so
 * that the stream knows it. Waiting for the disk before each message would cost more than all else:
 * a second file beside it, with the suffix SHIP_STATE_RECENT, outlives the program but perhaps not
 * the machine, and counts where it says more.
 */
#ifndef CORDON_FLEET_STATE_H
#define CORDON_FLEET_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/read/cursor.h"
#include "base/sha256.h"

#define SHIP_STATE_RECENT ".recent"

struct ship_state {
	struct audit_cursor acknowledged; /* of all lines in order */
	uint64_t sending;		  /* the last of those on their way; 0: none are */
	uint64_t first;			  /* how far those that go ahead are acknowledged */
	/* Under which messages get their ids, so that nobody else can use one first. */
	unsigned char secret[SHA256_SIZE];
};

/*
 * Of both. -ENOENT: the first is not there, *ret_state is empty but for a new secret; -EBADMSG: it
 * holds something else; or what reading gave. A state without a secret gets a new one.
 */
int ship_state_load(const char *path, struct ship_state *ret_state);

/* Another secret: all messages get other ids from now on. -EIO: libcrypto has no random numbers. */
int ship_state_new_secret(struct ship_state *state);

/*
 * Whole. `lasting`: over a crash of the machine, too, in the first file; else in the second.
 * -errno.
 */
int ship_state_save(const char *path, const struct ship_state *state, bool lasting);

#endif
