/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a ClickHouse server by HTTP, one request at a time, each waited for. */
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
 * Reads the password's file; nothing is sent. `settings` is borrowed. `cancel`: once that is true a
 * request ends at once; NULL: never. -EINVAL: they cannot be used; -errno of reading; -ENOMEM.
 */
int clickhouse_open(const struct config_clickhouse *settings, const atomic_bool *cancel,
		    struct clickhouse **ret_clickhouse, struct failure *failure);
void clickhouse_close(struct clickhouse *clickhouse);
DEFINE_CLEANUP(struct clickhouse *, clickhouse_close, clickhouse_closep)

/* A value of what the text of a question has as {name:Type}. */
struct clickhouse_parameter {
	const char *name, *value;
};

/*
 * A question, whose answer is added to *answer. -EHOSTUNREACH: the server was not reached, or did
 * not answer; -EAGAIN: it refused, and *failure says what it said; -ENOMEM; -EFBIG: an answer
 * beyond all measure.
 */
int clickhouse_ask(struct clickhouse *clickhouse, const char *sql,
		   const struct clickhouse_parameter *parameters, size_t count,
		   struct buffer *answer, struct failure *failure);

/* The line of an answer that begins at *at, and goes on behind it. False: there is none. */
bool clickhouse_line(const struct buffer *answer, size_t *at, const char **ret_line,
		     size_t *ret_size);

/*
 * Rows for a table, an object of JSON a line: 0 when all of them are on its disk. The same token
 * again, and the server takes none of them twice, in the table and in what is counted from it.
 * Errors as above; *ret_wait: to be left alone for so long, ns.
 */
int clickhouse_insert(struct clickhouse *clickhouse, const char *table, const char *token,
		      const struct buffer *lines, uint64_t *ret_wait, struct failure *failure);

#define CLICKHOUSE_TIME_SIZE CLOCK_TEXT_SIZE

/* "2026-01-31 12:34:56.123456789", which its DateTime64(9, 'UTC') is read from. */
void clickhouse_time(uint64_t realtime_nsec, char ret_text[CLICKHOUSE_TIME_SIZE]);

#endif
