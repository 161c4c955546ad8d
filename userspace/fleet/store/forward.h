/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has rows go to ClickHouse while the store goes on: requests are waited for in a thread of their
 * own, which touches nothing of the store. A server that is away, or that refuses, is tried again,
 * later and later; the rows wait in SQLite.
 */
#ifndef CORDON_FLEET_FORWARD_H
#define CORDON_FLEET_FORWARD_H

#include "base/cleanup.h"
#include "base/failure.h"
#include "config/read_clickhouse.h"
#include "fleet/store/rows.h"

struct forward;

/* Has the rows of a log's records `first` to `last` in the database again. */
typedef int forward_restore(void *data, const char *host, const char *log, uint64_t first,
			    uint64_t last, struct failure *failure);

struct forward_options {
	const struct config_clickhouse *settings;
	/* Is told what goes wrong, once until it works again. */
	void (*report)(const char *text);
	/* For what a server had acknowledged and lost; within a transaction. */
	forward_restore *restore;
	void *data;
};

/* What `options` point to, and `rows`, are borrowed. Errors as clickhouse_open(). */
int forward_open(struct rows *rows, const struct forward_options *options,
		 struct forward **ret_forward, struct failure *failure);
/* What is on its way may arrive or not; the next store sends it again. */
void forward_close(struct forward *forward);
DEFINE_CLEANUP(struct forward *, forward_close, forward_closep)

enum forward_state {
	FORWARD_IDLE,	 /* nothing is to be sent */
	FORWARD_PAUSE,	 /* between two batches */
	FORWARD_BUSY,	 /* look again soon */
	FORWARD_ARRIVED, /* rows did */
	FORWARD_LATER,	 /* it did not work, and is tried again in a while */
};

/* While no transaction is open. An enum forward_state; or an error of the store's own database. */
int forward_turn(struct forward *forward, struct failure *failure);

#endif
