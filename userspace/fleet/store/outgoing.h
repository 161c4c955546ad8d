/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves rows from DIR/fleet.sqlite to ClickHouse, in order for each log. A batch is noted before it
 * is sent. After a crash the same batch is sent again under the same token, until the server has
 * acknowledged it. Then its rows are deleted from SQLite.
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
	int64_t after; /* the log sent last, so that logs alternate */
	char token[UUID_TEXT_SIZE];
	struct buffer lines; /* JSON lines with the columns of `records` */
	uint64_t count;
	bool full; /* more rows are waiting */
};

void outgoing_release(struct outgoing *outgoing);

/*
 * Returns 0 if this database has sent rows before, otherwise 1. Then call outgoing_has() with the
 * server's last record of each log, and outgoing_known(). Returns -EIO on failure.
 */
int outgoing_is_new(struct outgoing *outgoing, struct failure *failure);
int outgoing_has(struct outgoing *outgoing, const char *host, const char *log, uint64_t sequence,
		 struct failure *failure);
int outgoing_known(struct outgoing *outgoing, struct failure *failure);
/*
 * Returns 1 if the server has rows of a log only up to `sequence`, but had acknowledged them up to
 * *ret_sent. Ignores logs that end before `oldest`, in ns, because the server deletes old rows.
 * Otherwise returns 0 or -EIO.
 */
int outgoing_lost(struct outgoing *outgoing, const char *host, const char *log, uint64_t sequence,
		  uint64_t oldest, uint64_t *ret_sent, struct failure *failure);

/*
 * Calls `visit` for each log with sent rows and a last record not older than `oldest`, in ns. A
 * negative result of `visit` ends the loop and is returned. Returns 0 or -EIO.
 */
int outgoing_visit_sent(struct outgoing *outgoing, uint64_t oldest,
			int (*visit)(void *data, const char *host, const char *log), void *data,
			struct failure *failure);

/*
 * Creates the batch again that was sent without a known result. Returns 1, 0 if there is none,
 * -EIO, -ENOSPC or -ENOMEM.
 */
int outgoing_again(struct outgoing *outgoing, struct failure *failure);
/* Creates that batch, or if there is none, the next one. */
int outgoing_next(struct outgoing *outgoing, struct failure *failure);
/* Marks the batch as acknowledged. */
int outgoing_arrived(struct outgoing *outgoing, struct failure *failure);

#endif
