/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows that may match a query from ClickHouse, a page at a time. */
#ifndef CORDON_FLEET_CLICKHOUSE_ROWS_H
#define CORDON_FLEET_CLICKHOUSE_ROWS_H

#include "fleet/ask/row_source.h"

struct clickhouse_rows;

/* `hosts`: restricts the rows to these IDs, as "'ab12','cd34'"; NULL: all. Returns 0 or -ENOMEM. */
int clickhouse_rows_open(struct clickhouse *clickhouse, const struct row_question *question,
			 const char *hosts, struct clickhouse_rows **ret_rows,
			 struct failure *failure);
void clickhouse_rows_close(struct clickhouse_rows *rows);
DEFINE_CLEANUP(struct clickhouse_rows *, clickhouse_rows_close, clickhouse_rows_closep)

/* As row_source_next(), except that the same row may be returned twice in succession. */
int clickhouse_rows_next(struct clickhouse_rows *rows, struct source_row *ret_row,
			 struct failure *failure);

#endif
