/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores deliveries in logs and rows. Invariant: a delivery is acknowledged only after
 * intake_commit(), which writes logs and rows to disk. After a crash the logs still verify, and
 * unacknowledged deliveries are sent again.
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
	INTAKE_TAKEN, /* has new records */
	INTAKE_KNOWN, /* has only stored records */
	INTAKE_WAITS, /* waits for earlier records; queries find it, no chain covers it */
	INTAKE_APART, /* invalid: quarantined */
	INTAKE_RESULT_COUNT,
};

struct intake;

/* Quotas of one host. Messages over a quota stay in the stream and are counted. */
struct intake_limits {
	uint64_t logs;
	uint64_t disk;	 /* bytes of copies and policies */
	uint64_t parked; /* bytes of records that wait for earlier ones, and of early records */
	uint64_t later;	 /* deferred messages */
};

#define INTAKE_LIMITS {.logs = 64, .disk = 64ull << 30, .parked = 256ull << 20, .later = 100000}

/*
 * Opens or creates the store in `directory`, and adds rows for logged records without rows.
 * `patience`: how long to wait for missing records before a retention record accounts for them, in
 * ns. Returns 0, -EBUSY if another store uses the directory, or -ERRNO.
 */
int intake_open(const char *directory, uint64_t patience, struct intake **ret_intake,
		struct failure *failure);
void intake_close(struct intake *intake);
DEFINE_CLEANUP(struct intake *, intake_close, intake_closep)

/*
 * Starts to send rows to ClickHouse. Returns as forward_open(); `settings` must outlive the intake.
 */
int intake_forward(struct intake *intake, const struct config_clickhouse *settings,
		   void (*report)(const char *text), struct failure *failure);
/*
 * Call repeatedly, outside of intake_begin() and intake_commit(). Returns as forward_turn(), or
 * FORWARD_IDLE without ClickHouse.
 */
int intake_turn(struct intake *intake, struct failure *failure);

int intake_begin(struct intake *intake, struct failure *failure);
int intake_commit(struct intake *intake, struct failure *failure);

/* Replaces INTAKE_LIMITS. */
void intake_limit(struct intake *intake, const struct intake_limits *limits);

/*
 * Stores one delivery. Returns 0, or -EAGAIN if it must be deferred: its host is over a quota, or
 * the log's copy cannot be opened; *failure has the reason. Other errors are fatal to the store,
 * and no delivery since intake_begin() may be acknowledged.
 */
int intake_take(struct intake *intake, const struct delivery *delivery,
		enum intake_result *ret_result, struct failure *failure);

/*
 * Defers a message: it is read again from its stream in the host's next time slice, or with `held`
 * when `reason` no longer applies.
 */
int intake_defer(struct intake *intake, const struct delivery *delivery, enum later_kind kind,
		 uint64_t number, bool held, const char *reason, struct failure *failure);
/*
 * Returns 1 if a message must be deferred: its host uses more than its share while others wait, or
 * has older deferred messages. Returns 0 if it can be stored now, or -ERRNO.
 */
int intake_is_spent(struct intake *intake, const char *host, enum share_lane lane, bool others_wait,
		    struct failure *failure);
/* Adds the duration of a message to its host's share, in ns. */
void intake_charge(struct intake *intake, const char *host, enum share_lane lane, uint64_t nsec);
/* Returns the deferred messages; see later.h. Use within a transaction. */
struct later *intake_later(struct intake *intake);
/* Counts a deferred message that the stream no longer has. */
int intake_lost(struct intake *intake, const struct later_entry *entry, struct failure *failure);

/*
 * Gives up the missing records around `sequence`, so that the records after them begin a new
 * covered run. Returns 0, -ERANGE if `sequence` is not missing or no record waits after it
 * (*failure has the reason), or as intake_take().
 */
int intake_skip(struct intake *intake, const char *host, const char *log, uint64_t sequence,
		const char *reason, struct failure *failure);
/*
 * Executes operators' orders, begins runs after deleted records, and tries to open logs that could
 * not be opened. Call it within a transaction. `report` is called with the reason if an order is
 * rejected.
 */
int intake_tend(struct intake *intake, void (*report)(const char *text), struct failure *failure);

/* Stores a presence message. */
int intake_presence(struct intake *intake, const struct presence *presence,
		    struct failure *failure);
/* Stores a policy of the log in `delivery`. Quarantines data that does not match `digest`. */
int intake_policy(struct intake *intake, const struct delivery *delivery, const char *digest,
		  struct failure *failure);
/* rows_overdue() and rows_closed() of this store. */
int intake_overdue(struct intake *intake, uint64_t after, uint64_t before,
		   char ret_host[DELIVERY_ID_SIZE], struct failure *failure);
int intake_closed(struct intake *intake, const char *host, uint64_t now, struct failure *failure);

/*
 * Quarantines a message that cannot be parsed, for example without a valid subject or gzip format.
 */
int intake_refuse(struct intake *intake, const struct delivery *delivery, const char *reason,
		  struct failure *failure);

#endif
