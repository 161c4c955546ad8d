/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for commands: found through the log's index, which is brought up to date if that can be.
 */
#ifndef CORDON_CLI_FIND_H
#define CORDON_CLI_FIND_H

#include <jansson.h>

#include "audit/search/search.h"

/*
 * As audit_search(). What fails was said on standard error, and so were damaged records and an
 * index that was of no use; *ret_status: EXIT_FAILURE if records are damaged or gone, else
 * EXIT_SUCCESS.
 */
int find_records(const char *directory, const struct audit_query *query,
		 const struct search_options *options, int (*visit)(void *data, json_t *record),
		 void *data, int *ret_status);

/* All of them in an array, a new reference; what is in them must not be changed: see share.h. */
int find_all(const char *directory, const struct audit_query *query, json_t **ret_records,
	     int *ret_status);

/*
 * The records of one execution by its id, a prefix of it, or "last": the one that started last.
 * `wanted`: those that are kept, where not all are; or NULL.
 * -EINVAL: `word` is neither; -ENOENT: there is none, or more than one; it was said why.
 */
int find_execution(const char *directory, const char *word, bool (*wanted)(const json_t *record),
		   json_t **ret_records, int *ret_status);

#endif
