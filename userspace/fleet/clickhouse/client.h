/* SPDX-License-Identifier: Apache-2.0 */
/* A synchronous client for ClickHouse's HTTP interface: one request at a time. */
#ifndef CORDON_FLEET_CLICKHOUSE_CLIENT_H
#define CORDON_FLEET_CLICKHOUSE_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "config/read_clickhouse.h"

struct clickhouse;

/*
 * Creates a client and reads the password file. Sends nothing. `settings` must outlive the client.
 * If `cancel` is not NULL, the running request fails as soon as *cancel is true.
 *
 * Returns 0, -EINVAL if the settings are unusable, -ENOMEM, or the -ERRNO of reading the file.
 */
int clickhouse_open(const struct config_clickhouse *settings, const atomic_bool *cancel,
		    struct clickhouse **ret_clickhouse, struct failure *failure);
void clickhouse_close(struct clickhouse *clickhouse);
DEFINE_CLEANUP(struct clickhouse *, clickhouse_close, clickhouse_closep)

/* The value of one placeholder {name:Type} in the SQL text. */
struct clickhouse_parameter {
	const char *name, *value;
};

/*
 * Runs a query and appends the result to the buffer.
 *
 * Returns 0, -EHOSTUNREACH if the server cannot be reached or sends no response, -EAGAIN if it
 * rejects the query (*failure has its error text), -EFBIG if the result exceeds the client's limit,
 * or -ENOMEM.
 */
int clickhouse_ask(struct clickhouse *clickhouse, const char *sql,
		   const struct clickhouse_parameter *parameters, size_t count,
		   struct buffer *answer, struct failure *failure);

/* Returns the result's line that begins at *at and advances *at behind it; false at the end. */
bool clickhouse_line(const struct buffer *answer, size_t *at, const char **ret_line,
		     size_t *ret_size);

/*
 * Inserts rows into a table; `lines` has one JSON object per line. Returns 0 after the server has
 * stored all rows on disk. The server ignores a repeated `token`, in the table and in its
 * materialized views, so that a retry inserts no row twice.
 *
 * Errors as for clickhouse_ask(). *ret_wait: how long the server wants no further request, in ns,
 * or 0.
 */
int clickhouse_insert(struct clickhouse *clickhouse, const char *table, const char *token,
		      const struct buffer *lines, uint64_t *ret_wait, struct failure *failure);

#define CLICKHOUSE_TIME_SIZE CLOCK_TEXT_SIZE

/* Formats a time as "2026-01-31 12:34:56.123456789", the text form of DateTime64(9, 'UTC'). */
void clickhouse_time(uint64_t realtime_nsec, char ret_text[CLICKHOUSE_TIME_SIZE]);

#endif
