/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads rows that may match a query, ordered by time, from DIR/fleet.sqlite and from ClickHouse if
 * configured. Each row is returned once. row_conditions() narrows both.
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
	const char *host; /* its name, or a prefix of its ID; NULL: all */
	const struct audit_query *query;
	bool all;	/* ignore the query's conditions */
	bool backwards; /* latest first */
};

struct source_row {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	uint64_t sequence, time; /* ns */
	uint64_t segment, offset;
	const char *early; /* line without chain cover, else NULL; valid until the next call */
	size_t early_size;
};

struct row_source;

/*
 * Opens the sources. `clickhouse`: NULL if not configured. The other arguments must outlive the
 * source. Returns 0, -ENODATA if ClickHouse has rows but is not configured, -EIO or -ENOMEM.
 */
int row_source_open(struct rows *rows, struct clickhouse *clickhouse,
		    const struct row_question *question, struct row_source **ret_source,
		    struct failure *failure);
void row_source_close(struct row_source *source);
DEFINE_CLEANUP(struct row_source *, row_source_close, row_source_closep)

/*
 * Returns 1 with the next row, 0 at the end, -EIO, -EAGAIN or -EHOSTUNREACH if ClickHouse rejects
 * the query or does not respond, or -ENOMEM.
 */
int row_source_next(struct row_source *source, struct source_row *ret_row, struct failure *failure);

/* Returns the name that the host reports, valid until the next call. NULL: none. */
const char *row_source_name(struct row_source *source, const char *host);

#endif
