/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a long piece of work is, in one line on a terminal's standard error; nowhere else, and
 * not for short work.
 */
#ifndef CORDON_CLI_PROGRESS_H
#define CORDON_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "indexing" */
	const char *unit; /* "programs"; NULL: a share is told, not a number */
	uint64_t start, told;
	bool possible, shown;
};

/*
 * `prints`: results go to standard output meanwhile; where that is a terminal, they show how far it
 * is.
 */
void progress_begin(struct progress *progress, const char *what, bool prints);

/* The same for what is counted: "57 of 116 programs". Its wait is known to be long. */
void progress_begin_counting(struct progress *progress, const char *what, const char *unit);

/* So much of `all`; cheap. `data` is the struct progress. */
void progress_step(void *data, uint64_t done, uint64_t all);

/* Leaves the line as it was before. */
void progress_end(struct progress *progress);

#endif
