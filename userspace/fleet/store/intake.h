/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes deliveries in. Between intake_begin() and intake_commit() nothing may be acknowledged;
 * after intake_commit() all that was taken is on disk, in logs and rows. A crash at any moment
 * leaves logs that verify, and deliveries that come again.
 */
#ifndef CORDON_FLEET_INTAKE_H
#define CORDON_FLEET_INTAKE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/store/delivery.h"
#include "fleet/store/forward.h"
#include "fleet/store/presence.h"

enum intake_result {
	INTAKE_TAKEN, /* records are new */
	INTAKE_KNOWN, /* all were there */
	INTAKE_WAITS, /* for what comes before them */
	INTAKE_APART, /* cannot be taken: kept apart */
	INTAKE_RESULT_COUNT,
};

struct intake;

/*
 * Opens the store in `directory`, which is made if it is not there, and adds to the rows what logs
 * have that they have not. `patience`: how long a log may lack its beginning until a deletion that
 * is on record accounts for it, ns. -EBUSY: another store is at work there; -errno.
 */
int intake_open(const char *directory, uint64_t patience, struct intake **ret_intake,
		struct failure *failure);
void intake_close(struct intake *intake);
DEFINE_CLEANUP(struct intake *, intake_close, intake_closep)

/*
 * From now on rows go on to ClickHouse. As forward_open(), whose settings stay borrowed.
 */
int intake_forward(struct intake *intake, const struct config_clickhouse *settings,
		   void (*report)(const char *text), struct failure *failure);
/*
 * Outside of intake_begin() and intake_commit(), again and again: as forward_turn(); FORWARD_IDLE
 * without one.
 */
int intake_turn(struct intake *intake, struct failure *failure);

int intake_begin(struct intake *intake, struct failure *failure);
int intake_commit(struct intake *intake, struct failure *failure);

/*
 * One delivery. -EAGAIN: too much of its log waits already: try later. Any other error is the
 * store's own, and ends it: nothing since intake_begin() may be acknowledged.
 */
int intake_take(struct intake *intake, const struct delivery *delivery,
		enum intake_result *ret_result, struct failure *failure);

/* What a shipper says of itself. */
int intake_presence(struct intake *intake, const struct presence *presence,
		    struct failure *failure);
/*
 * The file of a policy by its digest, of the log that `delivery` is of, whose data it is. What is
 * not that policy is kept apart.
 */
int intake_policy(struct intake *intake, const struct delivery *delivery, const char *digest,
		  struct failure *failure);
/* rows_overdue() and rows_closed() of this store. */
int intake_overdue(struct intake *intake, uint64_t after, uint64_t before,
		   char ret_host[DELIVERY_ID_SIZE], struct failure *failure);
int intake_closed(struct intake *intake, const char *host, uint64_t now, struct failure *failure);

/* One that could not even be read (no such subject, not gzip): keeps it apart. */
int intake_refuse(struct intake *intake, const struct delivery *delivery, const char *reason,
		  struct failure *failure);

#endif
