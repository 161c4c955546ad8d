/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that may answer a question, from ClickHouse: a page at a time. */
#ifndef CORDON_FLEET_CLICKHOUSE_ROWS_H
#define CORDON_FLEET_CLICKHOUSE_ROWS_H

#include "fleet/ask/row_source.h"

struct clickhouse_rows;

/* `hosts`: "'ab12','cd34'", to which they are narrowed; NULL: all. -ENOMEM. */
int clickhouse_rows_open(struct clickhouse *clickhouse, const struct row_question *question,
			 const char *hosts, struct clickhouse_rows **ret_rows,
			 struct failure *failure);
void clickhouse_rows_close(struct clickhouse_rows *rows);
DEFINE_CLEANUP(struct clickhouse_rows *, clickhouse_rows_close, clickhouse_rows_closep)

/* As row_source_next(); the same row may come twice, one behind the other. */
int clickhouse_rows_next(struct clickhouse_rows *rows, struct source_row *ret_row,
			 struct failure *failure);

#endif
