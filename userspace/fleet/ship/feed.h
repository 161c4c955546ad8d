/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the log into batches for both queues. */
#ifndef CORDON_FLEET_FEED_H
#define CORDON_FLEET_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/read/cursor.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/ship/batch.h"

struct feed;

/* Reads host and log from the newest segment. Returns false if it has no identity record. */
bool feed_identity(const char *directory, char ret_host[IDENTITY_HOST_SIZE],
		   char ret_log[UUID_TEXT_SIZE]);

/*
 * Opens the log and continues after `place`. *ret_missing: number of later records that are already
 * deleted. Errors as for audit_reader_open_after(); -ESTALE: the log was rewritten or replaced.
 */
int feed_open(const char *directory, const struct audit_cursor *place, struct feed **ret_feed,
	      uint64_t *ret_missing, struct failure *failure);
void feed_close(struct feed *feed);
DEFINE_CLEANUP(struct feed *, feed_close, feed_closep)

/*
 * Fills an empty batch with the next lines of one log, up to the line with number `last`, or until
 * the batch is full if `last` is 0. *ret_end: the position after the last line read, even if no
 * line was added.
 *
 * Returns 1 if more lines exist, 0 at the end of the log, or -EBADMSG if a line that breaks the
 * chain was added. *failure then names the line, and the call can be repeated. Other errors come
 * from reading.
 */
int feed_fill(struct feed *feed, struct batch *batch, uint64_t last, struct audit_cursor *ret_end,
	      struct failure *failure);

/* Number of lines that were skipped because they name no log or no host. */
uint64_t feed_nameless(const struct feed *feed);

/*
 * Fills an empty batch with urgent lines after number `after`. Begins with the segment that is
 * being written; the bulk queue sends older segments in order. *ret_after: number of the last line
 * read.
 *
 * Returns 1 if more lines exist, 0, or -ERRNO.
 */
int feed_fill_first(struct feed *feed, struct batch *batch, uint64_t after, uint64_t *ret_after,
		    struct failure *failure);

#endif
