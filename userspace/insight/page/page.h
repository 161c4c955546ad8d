/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a report on executions as a single HTML page without scripts, network access or other
 * files; its Content-Security-Policy forbids to load any.
 */
#ifndef CORDON_INSIGHT_PAGE_H
#define CORDON_INSIGHT_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/seal/verify.h"

struct page_integrity {
	bool checked; /* all of the log was */
	struct verify_result result;
	bool with_key;		   /* the seals were verified, too */
	const char *first_problem; /* or NULL */
	const char *const *notes;  /* not all, if there are many */
	size_t note_count;
};

struct page {
	const char *title;     /* the query: an id, a session, a time */
	const char *directory; /* of the log */
	const char *version;   /* of cordon */
	uint64_t time;	       /* now, ns since the epoch */
	struct page_integrity integrity;
	json_t *const *records; /* of the executions, in the log's order; others are skipped */
	size_t count;
};

/* Maximum of executions described completely, and of listed ones. */
#define PAGE_EXECUTIONS_MAX 50u
#define PAGE_LISTED_MAX	    1000u
/* Maximum shown of one execution; the rest is counted. */
#define PAGE_PROCESSES_MAX 500u
#define PAGE_ROWS_MAX	   500u

/* Returns 0 or -ENOMEM. */
int page_write(FILE *out, const struct page *page);

#endif
