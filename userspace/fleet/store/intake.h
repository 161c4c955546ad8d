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
#include "fleet/store/later.h"
#include "fleet/store/presence.h"
#include "fleet/store/shares.h"

enum intake_result {
	INTAKE_TAKEN, /* records are new */
	INTAKE_KNOWN, /* all were there */
	INTAKE_WAITS, /* for what comes before them; they are found, and not covered */
	INTAKE_APART, /* cannot be taken: kept apart */
	INTAKE_RESULT_COUNT,
};

struct intake;

/* What one host may take of the store. What is beyond it stays in the stream, and is counted. */
struct intake_limits {
	uint64_t logs;
	uint64_t disk; /* bytes of copies and policies */
	uint64_t
		parked; /* bytes of records that wait for what comes before them, and of early ones */
	uint64_t later; /* messages that are noted to be read later */
};

#define INTAKE_LIMITS {.logs = 64, .disk = 64ull << 30, .parked = 256ull << 20, .later = 100000}

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

/* Others than INTAKE_LIMITS. */
void intake_limit(struct intake *intake, const struct intake_limits *limits);

/*
 * One delivery. -EAGAIN: it cannot be decided now, *failure says why: its host is over a quota, or
 * the log's copy cannot be opened. Any other error is the store's own, and ends it: nothing since
 * intake_begin() may be acknowledged.
 */
int intake_take(struct intake *intake, const struct delivery *delivery,
		enum intake_result *ret_result, struct failure *failure);

/*
 * Has a message be read once more, from its stream: when its host has its turn; or, `held`, when
 * what keeps it from being decided may be over. `reason`: what keeps it.
 */
int intake_defer(struct intake *intake, const struct delivery *delivery, enum later_kind kind,
		 uint64_t number, bool held, const char *reason, struct failure *failure);
/*
 * 1: this host's messages have their turn later: it takes more than its share, and others wait; or
 * some of its messages are to be read later already, which come first. 0: this one has its turn.
 */
int intake_is_spent(struct intake *intake, const char *host, enum share_lane lane, bool others_wait,
		    struct failure *failure);
/* A message of that host took so long, ns. */
void intake_charge(struct intake *intake, const char *host, enum share_lane lane, uint64_t nsec);
/* What was deferred, see later.h. Within a transaction. */
struct later *intake_later(struct intake *intake);
/* A message is not in the stream any more. */
int intake_lost(struct intake *intake, const struct later_entry *entry, struct failure *failure);

/*
 * Gives up the records that lack before what waits, among which is `sequence`: what waits begins a
 * covered run of its own. -ERANGE: none lacks there, or nothing waits behind it, *failure says
 * what; other errors as intake_take().
 */
int intake_skip(struct intake *intake, const char *host, const char *log, uint64_t sequence,
		const char *reason, struct failure *failure);
/*
 * Carries out what operators ordered meanwhile, begins runs that a deletion on record accounts for,
 * and tries again to open what could not be. Within a transaction; `report` is told what an order
 * came to.
 */
int intake_tend(struct intake *intake, void (*report)(const char *text), struct failure *failure);

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
