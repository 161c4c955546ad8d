/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shipper's state file: the position that the stream has acknowledged, and the records that
 * were being sent. After a crash these are sent again as the same message, so that the stream
 * detects the duplicate.
 *
 * Syncing the file before each message would cost too much. Most updates therefore go to a second
 * file with the suffix SHIP_STATE_RECENT, which survives a crash of the process but perhaps not of
 * the machine. It is used if its position is later.
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
	uint64_t sending;		  /* last seq that was being sent; 0: none */
	uint64_t first;			  /* urgent lines are acknowledged up to here */
	/* Key of the message IDs, so that no other client can use an ID first. */
	unsigned char secret[SHA256_SIZE];
};

/*
 * Loads both files and uses the later position. A state without a secret gets a new one. Returns 0,
 * -ENOENT if the first file does not exist (*ret_state then has only a new secret), -EBADMSG if its
 * contents are invalid, or the -ERRNO of reading.
 */
int ship_state_load(const char *path, struct ship_state *ret_state);

/*
 * Replaces the secret, so that later messages get other IDs. Returns 0, or -EIO if libcrypto has no
 * random numbers.
 */
int ship_state_new_secret(struct ship_state *state);

/*
 * Writes the state atomically: with `lasting` to the first file and synced, otherwise to the
 * second. Returns 0 or -ERRNO.
 */
int ship_state_save(const char *path, const struct ship_state *state, bool lasting);

#endif
