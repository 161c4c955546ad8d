/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What narrows rows to those that may answer a question, in the SQL that SQLite and ClickHouse have
 * in common: each condition says less than the question does, never more. Pure.
 */
#ifndef CORDON_FLEET_ROW_CONDITIONS_H
#define CORDON_FLEET_ROW_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/search/query.h"
#include "audit/text/buffer.h"

enum row_value_kind { ROW_TEXT, ROW_TIME };

/* What stands for a digit behind '?'. */
struct row_parameter {
	char digit;
	enum row_value_kind kind;
	const char *text;
	uint64_t time; /* ns */
};

#define ROW_PARAMETERS_MAX 6

/* " AND r.time >= ?1 ..."; *ret_parameters: those that it takes. Returns how many. */
size_t row_conditions(const struct audit_query *query, struct buffer *sql,
		      struct row_parameter ret_parameters[ROW_PARAMETERS_MAX]);

#endif
