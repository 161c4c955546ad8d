/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a query to SQL conditions that SQLite and ClickHouse both accept. A condition may select
 * more rows than the query matches, but never fewer. No I/O.
 */
#ifndef CORDON_FLEET_ROW_CONDITIONS_H
#define CORDON_FLEET_ROW_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/search/query.h"
#include "audit/text/buffer.h"

enum row_value_kind { ROW_TEXT, ROW_TIME };

/* The value of a parameter ?DIGIT. */
struct row_parameter {
	char digit;
	enum row_value_kind kind;
	const char *text;
	uint64_t time; /* ns */
};

#define ROW_PARAMETERS_MAX 6

/*
 * Appends " AND r.time >= ?1 ..." and sets *ret_parameters to the used parameters. Returns their
 * number.
 */
size_t row_conditions(const struct audit_query *query, struct buffer *sql,
		      struct row_parameter ret_parameters[ROW_PARAMETERS_MAX]);

#endif
