/* SPDX-License-Identifier: Apache-2.0 */
/* The log, read into batches for both lanes. */
#ifndef CORDON_FLEET_FEED_H
#define CORDON_FLEET_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/read/cursor.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/ship/batch.h"

struct feed;

/* Whose log grows there, by its newest segment. false: it does not say. */
bool feed_identity(const char *directory, char ret_host[IDENTITY_HOST_SIZE],
		   char ret_log[UUID_TEXT_SIZE]);

/*
 * Goes on behind `place`; *ret_missing: records behind it that are deleted. Errors as
 * audit_reader_open_after(), so
 * -ESTALE: the log was rewritten, or is another one.
 */
int feed_open(const char *directory, const struct audit_cursor *place, struct feed **ret_feed,
	      uint64_t *ret_missing, struct failure *failure);
void feed_close(struct feed *feed);
DEFINE_CLEANUP(struct feed *, feed_close, feed_closep)

/*
 * Fills a batch, which is empty, with the next lines of one log, up to the one with number `last`
 * (0: as many as go in). *ret_end: behind the last line that was read, also where nothing went in.
 * 1: there is more; 0: that is all for now; -EBADMSG: a line that breaks the chain went in
 * (`failure` says which), and the batch may take more; else what keeps from reading.
 */
int feed_fill(struct feed *feed, struct batch *batch, uint64_t last, struct audit_cursor *ret_end,
	      struct failure *failure);

/* Lines that went nowhere, since they say neither of which log nor of which host they are. */
uint64_t feed_nameless(const struct feed *feed);

/*
 * Fills a batch, which is empty, with those lines behind number `after` that go ahead. Begins with
 * the segment that grows: what is in older ones comes in its turn. *ret_after: as far as was
 * looked. 1: there is more; 0; or -errno.
 */
int feed_fill_first(struct feed *feed, struct batch *batch, uint64_t after, uint64_t *ret_after,
		    struct failure *failure);

#endif
