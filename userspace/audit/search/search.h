/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds records in a log: with its index where there is one, by reading all of it where there is
 * none. Each record is taken from the log and checked against the chain; the index only says where
 * to look.
 */
#ifndef CORDON_AUDIT_SEARCH_H
#define CORDON_AUDIT_SEARCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/search/query.h"
#include "base/failure.h"

struct search_options {
	bool no_index;	/* read all of the log */
	uint64_t limit; /* only the last so many; 0: all */
	/*
	 * Records with this event.action are passed over unless they are damaged; NULL: none are.
	 */
	const char *but_action;
	/*
	 * Is given lines that match and follow from the one before them, and before they are parsed
	 * where that is known without. True: `visit` need not see it.
	 */
	bool (*visit_line)(void *data, const char *line, size_t size);
	/* Now and then: how many bytes were read, of about how many. May be NULL. */
	void (*progress)(void *data, uint64_t done, uint64_t all);
	void *progress_data;
};

struct search_result {
	uint64_t found;
	uint64_t
		damaged; /* lines that match and do not follow from the line before; among `found` */
	uint64_t lost;	 /* places of the index where the log has no line any more */
	uint64_t looked_at; /* lines that were read */
	bool used_index;
	bool stale; /* the index did not agree with the log and was not used */
};

/*
 * Calls `visit` with a borrowed record for each that matches, in the log's order, damaged ones
 * marked; it stops with a negative result, which is passed on. Otherwise errors as
 * audit_archive_open(), and -ENOMEM.
 */
int audit_search(const char *directory, const struct audit_query *query,
		 const struct search_options *options, int (*visit)(void *data, json_t *record),
		 void *data, struct search_result *ret_result, struct failure *failure);

#endif
