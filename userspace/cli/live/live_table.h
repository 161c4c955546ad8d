/* SPDX-License-Identifier: Apache-2.0 */
/* Live executions as a table: for `cordon ps` and `cordon top`. */
#ifndef CORDON_CLI_LIVE_TABLE_H
#define CORDON_CLI_LIVE_TABLE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "insight/text/style.h"

struct live_table {
	const json_t *executions; /* as the daemon lists them */
	/* The same so much earlier, to show shares of CPU by; NULL: the time used is shown. */
	const json_t *before;
	uint64_t interval_nsec;
	size_t rows; /* at most; 0: all */
};

/* Oldest first; busiest first where there is a `before`. -ENOMEM. */
int live_table_write(FILE *out, const struct style *style, const struct live_table *table);

/* Oldest first: a new reference, or NULL without memory. */
json_t *live_table_sorted(const json_t *executions);

#endif
