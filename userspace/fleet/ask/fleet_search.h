/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds records of all hosts: rows narrow, and audit/search/query.h decides about each record
 * itself, as it does for one host's log. So a row that is wrong can hide a record, and never add
 * one.
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
	const char *host;      /* its name, or how its id begins; NULL: all */
	const struct audit_query *query;
	bool no_index;	/* look at every record */
	uint64_t limit; /* only the last so many; 0: all */
};

struct fleet_found {
	const char *host, *name; /* NULL: it has no name */
	const char *log;
	bool covered; /* by the chain; else the first lane brought it */
	json_t *record;
};

struct fleet_search_result {
	uint64_t found;
	uint64_t lost; /* rows whose record is not where they say */
};

/*
 * Calls `visit` for each that matches, in the order of their times; it stops with a negative
 * result, which is passed on. Errors of row_source_open(), to which `rows` and `clickhouse` are
 * given, and of row_source_next().
 */
int fleet_search_run(struct rows *rows, struct clickhouse *clickhouse,
		     const struct fleet_search *search,
		     int (*visit)(void *data, const struct fleet_found *found), void *data,
		     struct fleet_search_result *ret_result, struct failure *failure);

#endif
