/* SPDX-License-Identifier: Apache-2.0 */
/* Reads counts of decisions on all hosts by rule and class of path, from SQLite or ClickHouse. */
#ifndef CORDON_FLEET_DECISIONS_H
#define CORDON_FLEET_DECISIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/failure.h"
#include "fleet/clickhouse/client.h"
#include "fleet/store/rows.h"

struct decisions_question {
	const char *host;  /* its name, or a prefix of its ID; NULL: all */
	const char *since; /* time as in records; its whole hour and later ones count */
	bool all;	   /* also allowed accesses, not only denied ones and would-be denials */
	uint64_t limit;	   /* maximum number of results */
};

/* Missing texts are "". */
struct decision {
	const char *action, *policy, *rule, *operation, *template;
	uint64_t count, hosts;
};

/*
 * Calls `visit` for each result, the highest count first. *ret_uncounted: decisions not yet
 * received by ClickHouse.
 *
 * Returns 0, -ENODATA if ClickHouse has the counts but is not configured, -EAGAIN or -EHOSTUNREACH
 * if it rejects the query or does not respond, -EIO, or -ENOMEM.
 */
int decisions_read(struct rows *rows, struct clickhouse *clickhouse,
		   const struct decisions_question *question,
		   void (*visit)(void *data, const struct decision *decision), void *data,
		   uint64_t *ret_uncounted, struct failure *failure);

#endif
