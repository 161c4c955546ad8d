/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that go from DIR/fleet.sqlite to ClickHouse: of each log in order, in batches that are noted
 * before they are sent, so that after whatever crash the same batch is sent again under the same
 * token, until the server has acknowledged it. Then they are no longer in SQLite.
 */
#ifndef CORDON_FLEET_OUTGOING_H
#define CORDON_FLEET_OUTGOING_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/failure.h"
#include "base/uuid.h"
#include "fleet/store/rows.h"

struct outgoing {
	struct rows *rows;
	int64_t after; /* the log that had its turn last, so that each has one */
	char token[UUID_TEXT_SIZE];
	struct buffer lines; /* objects of JSON, one a line, as records has columns */
	uint64_t count;
	bool full; /* there is more */
};

void outgoing_release(struct outgoing *outgoing);

/*
 * 0: rows were sent from this database before. 1: not yet: what the server has of each log is to be
 * told with outgoing_has(), and then outgoing_known(). -EIO.
 */
int outgoing_is_new(struct outgoing *outgoing, struct failure *failure);
int outgoing_has(struct outgoing *outgoing, const char *host, const char *log, uint64_t sequence,
		 struct failure *failure);
int outgoing_known(struct outgoing *outgoing, struct failure *failure);
/*
 * 1: the server has no more than `sequence` of a log, and had acknowledged all up to *ret_sent. Of
 * a log that ends before `oldest`, ns, rows may have been dropped for their age. -EIO.
 */
int outgoing_lost(struct outgoing *outgoing, const char *host, const char *log, uint64_t sequence,
		  uint64_t oldest, uint64_t *ret_sent, struct failure *failure);

/*
 * Calls `visit` for each log that rows were sent of and whose last record is not older than
 * `oldest`, ns; it stops with a negative result, which is passed on. -EIO.
 */
int outgoing_visit_sent(struct outgoing *outgoing, uint64_t oldest,
			int (*visit)(void *data, const char *host, const char *log), void *data,
			struct failure *failure);

/*
 * Makes the batch that was on its way, of which it is not known whether it arrived. 0: there is
 * none; 1: there is. -EIO, -ENOSPC, -ENOMEM.
 */
int outgoing_again(struct outgoing *outgoing, struct failure *failure);
/* That one; or, where there is none, the next. */
int outgoing_next(struct outgoing *outgoing, struct failure *failure);
/* It was acknowledged. */
int outgoing_arrived(struct outgoing *outgoing, struct failure *failure);

#endif
