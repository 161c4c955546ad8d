/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the hosts of this store, because several stores may share a ClickHouse database. */
#include "fleet/ask/own_hosts.h"

int own_hosts(struct rows *rows, const char *host, struct buffer *list, struct failure *failure)
{
	static const char sql[] =
		"SELECT host FROM hosts WHERE ?1 IS NULL OR name = ?1 OR substr(host, 1, length(?1)) = ?1";
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(rows_database(rows), sql, -1, &statement, NULL);

	if (r == SQLITE_OK) {
		(void)sqlite3_bind_text(statement, 1, host, -1, SQLITE_STATIC);
		while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
			/*
			 * IDs consist of hexadecimal digits, as checked when the row was added: no
			 * escaping.
			 */
			buffer_string(list, list->size > 0 ? ",'" : "'");
			buffer_string(list, (const char *)sqlite3_column_text(statement, 0));
			buffer_literal(list, "'");
		}
	}
	sqlite3_finalize(statement);
	buffer_add(list, "", 1);
	if (r != SQLITE_DONE)
		return failure_set(failure, EIO, "cannot read the store's rows: %s",
				   sqlite3_errmsg(rows_database(rows)));
	return list->failed ? failure_set(failure, ENOMEM, "out of memory") : 0;
}
