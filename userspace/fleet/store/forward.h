/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends rows to ClickHouse asynchronously: a thread waits for the requests and accesses nothing
 * else of the store. If the server is unreachable or rejects a request, it is retried with growing
 * delays. The rows stay in SQLite until then.
 */
#ifndef CORDON_FLEET_FORWARD_H
#define CORDON_FLEET_FORWARD_H

#include "base/cleanup.h"
#include "base/failure.h"
#include "config/read_clickhouse.h"
#include "fleet/store/rows.h"

struct forward;

/* Inserts the rows of a log's records `first` to `last` into the database again. */
typedef int forward_restore(void *data, const char *host, const char *log, uint64_t first,
			    uint64_t last, struct failure *failure);

struct forward_options {
	const struct config_clickhouse *settings;
	/* Called with an error message, once until requests succeed again. */
	void (*report)(const char *text);
	/* Called for rows that the server acknowledged and then lost; within a transaction. */
	forward_restore *restore;
	void *data;
};

/*
 * `rows`, and everything that `options` points to, must outlive *ret_forward. Returns as
 * clickhouse_open().
 */
int forward_open(struct rows *rows, const struct forward_options *options,
		 struct forward **ret_forward, struct failure *failure);
/* Ends the thread. A running request may succeed or not; the next store repeats it. */
void forward_close(struct forward *forward);
DEFINE_CLEANUP(struct forward *, forward_close, forward_closep)

enum forward_state {
	FORWARD_IDLE,	 /* no rows to send */
	FORWARD_PAUSE,	 /* between two batches */
	FORWARD_BUSY,	 /* a request is running: call again soon */
	FORWARD_ARRIVED, /* rows arrived */
	FORWARD_LATER,	 /* a request failed and is retried later */
};

/*
 * Starts or completes requests. Call it without an open transaction. Returns an enum forward_state,
 * or -ERRNO if the store's own database fails.
 */
int forward_turn(struct forward *forward, struct failure *failure);

#endif
