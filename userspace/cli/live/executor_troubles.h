/* SPDX-License-Identifier: Apache-2.0 */
/* What a person has to see to about executors: see executors_status_json() of the daemon. */
#ifndef CORDON_CLI_EXECUTOR_TROUBLES_H
#define CORDON_CLI_EXECUTOR_TROUBLES_H

#include <jansson.h>
#include <stddef.h>

/*
 * Calls `say` with a line for each: a file that is not in force, an entry that refuses what its
 * executor starts, a process that nobody adopted. `executors`: of the daemon's status, or NULL.
 * Returns how many.
 */
size_t executor_troubles(const json_t *executors, void (*say)(const char *line, void *context),
			 void *context);

#endif
