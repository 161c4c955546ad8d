/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that may answer a question, in the order of their times: those in DIR/fleet.sqlite and,
 * where rows go on to ClickHouse, those there, each once. What narrows them is said once for both.
 */
#ifndef CORDON_FLEET_ROW_SOURCE_H
#define CORDON_FLEET_ROW_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/search/query.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "fleet/clickhouse/client.h"
#include "fleet/store/delivery.h"
#include "fleet/store/rows.h"

struct row_question {
	const char *host; /* its name, or how its id begins; NULL: all */
	const struct audit_query *query;
	bool all;	/* not narrowed by the query */
	bool backwards; /* the latest first */
};

struct source_row {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	uint64_t sequence, time; /* ns */
	uint64_t segment, offset;
	const char *
		early; /* as it came, where no chain covers it yet, else NULL; until the next call */
	size_t early_size;
};

struct row_source;

/*
 * `clickhouse`: NULL: none is configured. All but it and `rows` are borrowed until it is closed,
 * too. -ENODATA: rows are in ClickHouse, and none is configured; -EIO; -ENOMEM.
 */
int row_source_open(struct rows *rows, struct clickhouse *clickhouse,
		    const struct row_question *question, struct row_source **ret_source,
		    struct failure *failure);
void row_source_close(struct row_source *source);
DEFINE_CLEANUP(struct row_source *, row_source_close, row_source_closep)

/* 1: *ret_row is the next; 0: there is none. -EIO; -EAGAIN: ClickHouse does not answer; -ENOMEM. */
int row_source_next(struct row_source *source, struct source_row *ret_row, struct failure *failure);

/* How a host calls itself; until the next call. NULL: it did not say. */
const char *row_source_name(struct row_source *source, const char *host);

#endif
