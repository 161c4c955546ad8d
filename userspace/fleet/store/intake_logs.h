/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of open logs with a fixed maximum. The least recently used log is closed first. */
#ifndef CORDON_FLEET_INTAKE_LOGS_H
#define CORDON_FLEET_INTAKE_LOGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "fleet/store/host_log.h"
#include "fleet/store/later.h"
#include "fleet/store/rows.h"

struct intake_logs {
	const char *directory; /* not owned */
	struct rows *rows;     /* not owned */
	struct later *later;   /* not owned */
	uint64_t most;	       /* maximum of logs per host */
	struct host_log *first;
	size_t count;
	uint64_t uses;
};

/*
 * Returns the log, and if it was not open, opens it and adds missing rows. Call it within a
 * transaction. Returns 0, -EBADMSG if the log cannot continue (*failure has the reason), -EAGAIN if
 * it cannot be opened now, which is recorded, or if the host has too many logs. Other errors are
 * fatal to the store.
 */
int intake_logs_get(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
		    struct host_log **ret_log, struct failure *failure);
/*
 * Adds the rows of the log's records `first` to `last` again, to be sent again. Call it within a
 * transaction. Returns 0, -EBADMSG if the log lacks one, or an error of the store.
 */
int intake_logs_restore(struct intake_logs *logs, struct host_log *log, uint64_t first,
			uint64_t last, struct failure *failure);
/*
 * Opens every log in DIR/hosts. Skips a log that cannot continue, because its next delivery reports
 * the error, and records a log that cannot be opened.
 */
int intake_logs_get_all(struct intake_logs *logs, uint64_t now, struct failure *failure);
int intake_logs_sync(struct intake_logs *logs, struct failure *failure);
int intake_logs_rotate(struct intake_logs *logs, struct failure *failure);
void intake_logs_close(struct intake_logs *logs);

#endif
