/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds records of all hosts. Rows select candidates; audit/search/query.h then matches each
 * record, as for the log of one host. A wrong row can therefore hide a record, but never add one.
 */
#ifndef CORDON_FLEET_SEARCH_H
#define CORDON_FLEET_SEARCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/search/query.h"
#include "base/failure.h"
#include "fleet/clickhouse/client.h"
#include "fleet/store/rows.h"

struct fleet_search {
	const char *directory; /* of the store */
	const char *host;      /* its name, or a prefix of its ID; NULL: all */
	const struct audit_query *query;
	bool no_index;	/* read every record */
	uint64_t limit; /* only the last `limit` records; 0: all */
};

struct fleet_found {
	const char *host, *name; /* NULL: it has no name */
	const char *log;
	bool covered; /* by the chain; otherwise it arrived in the queue "first" */
	json_t *record;
};

struct fleet_search_result {
	uint64_t found;
	uint64_t lost; /* rows without a record at their place */
};

/*
 * Calls `visit` for each matching record, ordered by time. A negative result of `visit` ends the
 * search and is returned. Other errors as for row_source_open() and row_source_next().
 */
int fleet_search_run(struct rows *rows, struct clickhouse *clickhouse,
		     const struct fleet_search *search,
		     int (*visit)(void *data, const struct fleet_found *found), void *data,
		     struct fleet_search_result *ret_result, struct failure *failure);

#endif
