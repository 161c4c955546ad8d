/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report on one or more executions as a single HTML page: it needs no network, no script and no
 * other file, and may load nothing (its own Content-Security-Policy forbids it).
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
	bool with_key;		   /* the seals were checked, too */
	const char *first_problem; /* or NULL */
	const char *const *notes;  /* not all of them, if there are many */
	size_t note_count;
};

struct page {
	const char *title;     /* what was asked for: an id, a session, a time */
	const char *directory; /* of the log */
	const char *version;   /* of cordon */
	uint64_t time;	       /* now, ns since the epoch */
	struct page_integrity integrity;
	json_t *const *records; /* of the executions, in the log's order; others are passed over */
	size_t count;
};

/* Executions with all their parts, and in the list of them, at most. */
#define PAGE_EXECUTIONS_MAX 50u
#define PAGE_LISTED_MAX	    1000u
/* What is shown of one execution at most; the rest is counted. */
#define PAGE_PROCESSES_MAX 500u
#define PAGE_ROWS_MAX	   500u

/* -ENOMEM. */
int page_write(FILE *out, const struct page *page);

#endif
