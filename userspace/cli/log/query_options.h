/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options by which commands choose records: what `cordon log query` and `export` have in
 * common.
 */
#ifndef CORDON_CLI_QUERY_OPTIONS_H
#define CORDON_CLI_QUERY_OPTIONS_H

#include <getopt.h>

#include "audit/search/query.h"
#include "audit/search/search.h"
#include "base/clock.h"

struct query_options {
	const char *directory;
	struct audit_query query;
	struct search_options search;
	/* what the query points to */
	char since[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
	char execution[40];
	struct audit_glob *path;
	struct audit_network address;
};

/* Long options with values from here on; a command's own come before. */
#define QUERY_OPTION_FIRST 256

/* For getopt_long(), without the terminator; --log is the last. */
#define QUERY_OPTIONS_COUNT 15
extern const struct option query_options_table[QUERY_OPTIONS_COUNT];

/* Lines for --help: which records, and in which log. */
extern const char query_options_help[], query_options_log_help[];

void query_options_init(struct query_options *options);
void query_options_release(struct query_options *options);

/* One option that getopt_long() returned. -EINVAL: it was said why; -ENOENT: not one of these. */
int query_options_take(struct query_options *options, int option, const char *value);

#endif
