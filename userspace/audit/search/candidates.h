/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a log to look for what a query asks for, as its index says. */
#ifndef CORDON_AUDIT_CANDIDATES_H
#define CORDON_AUDIT_CANDIDATES_H

#include <stdint.h>

#include "audit/read/archive.h"
#include "audit/search/index_file.h"
#include "audit/search/query.h"

/* A line (size 0), or a stretch of lines. */
struct candidate {
	uint32_t segment; /* number in the archive */
	uint64_t offset, size;
};

struct candidates {
	struct candidate *items; /* in the log's order */
	size_t count;
};

void candidates_release(struct candidates *candidates);

/*
 * All lines that can match are among the candidates. `numbers`: per segment of the archive its id
 * in the index, 0 if it is not in it. -EBADMSG: the index is damaged; -ENOMEM, -EIO, ...
 */
int candidates_find(struct index_file *file, const struct audit_query *query,
		    const int64_t *numbers, size_t segments, struct candidates *ret_candidates);

#endif
