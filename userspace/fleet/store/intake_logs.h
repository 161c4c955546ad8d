/* SPDX-License-Identifier: Apache-2.0 */
/* The logs that are open: a bounded number, the one that was used longest ago gives way. */
#ifndef CORDON_FLEET_INTAKE_LOGS_H
#define CORDON_FLEET_INTAKE_LOGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "fleet/store/host_log.h"
#include "fleet/store/later.h"
#include "fleet/store/rows.h"

struct intake_logs {
	const char *directory; /* borrowed */
	struct rows *rows;     /* borrowed */
	struct later *later;   /* borrowed */
	uint64_t most;	       /* logs of a host */
	struct host_log *first;
	size_t count;
	uint64_t uses;
};

/*
 * Opens it if it is not open, and adds rows of what it has and they have not; inside a transaction
 * of the rows. -EBADMSG: this log cannot be gone on with, *failure says why; -EAGAIN: it cannot be
 * opened now, which is noted as a trouble, or the host has too many; other errors are those of the
 * store.
 */
int intake_logs_get(struct intake_logs *logs, const char *host, const char *id, uint64_t now,
		    struct host_log **ret_log, struct failure *failure);
/*
 * Has rows of the log's records `first` to `last` once more, which are to be sent again; inside a
 * transaction. -EBADMSG: it has not all of them; or an error of the store.
 */
int intake_logs_restore(struct intake_logs *logs, struct host_log *log, uint64_t first,
			uint64_t last, struct failure *failure);
/*
 * Every log that DIR/hosts has. One that cannot be gone on with is passed over: its next delivery
 * says so; one that cannot be opened is a trouble.
 */
int intake_logs_get_all(struct intake_logs *logs, uint64_t now, struct failure *failure);
int intake_logs_sync(struct intake_logs *logs, struct failure *failure);
int intake_logs_rotate(struct intake_logs *logs, struct failure *failure);
void intake_logs_close(struct intake_logs *logs);

#endif
