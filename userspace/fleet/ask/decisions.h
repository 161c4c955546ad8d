/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of decisions by rule and class of path, over all hosts, from where they are counted. */
#ifndef CORDON_FLEET_DECISIONS_H
#define CORDON_FLEET_DECISIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/failure.h"
#include "fleet/clickhouse/client.h"
#include "fleet/store/rows.h"

struct decisions_question {
	const char *host;  /* its name, or how its id begins; NULL: all */
	const char *since; /* as records have times: the hour that it is in, and later ones */
	bool all;	   /* not only what was refused, or would have been */
	uint64_t limit;	   /* those with the highest counts */
};

/* Texts are "" where there is none. */
struct decision {
	const char *action, *policy, *rule, *operation, *template;
	uint64_t count, hosts;
};

/*
 * Calls `visit` for each, the highest count first. *ret_uncounted: decisions whose rows have not
 * arrived where they are counted. -ENODATA: that is ClickHouse, and none is configured; -EIO;
 * -EAGAIN, -EHOSTUNREACH: it does not answer; -ENOMEM.
 */
int decisions_read(struct rows *rows, struct clickhouse *clickhouse,
		   const struct decisions_question *question,
		   void (*visit)(void *data, const struct decision *decision), void *data,
		   uint64_t *ret_uncounted, struct failure *failure);

#endif
