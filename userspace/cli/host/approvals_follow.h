/* SPDX-License-Identifier: Apache-2.0 */
/* cordon approvals --follow: what begins to wait, as it does. */
#ifndef CORDON_CLI_APPROVALS_FOLLOW_H
#define CORDON_CLI_APPROVALS_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Those of the entries that wait and were not among `seen` before: a new array, or NULL without
 * memory. `seen`, an object, is brought up to date; what waits no more may be new again.
 */
json_t *approvals_new(const json_t *entries, json_t *seen);

/*
 * Shows each once, with `json` as a line of JSON, and runs `command` (NULL: none) for each by the
 * shell, as who we are, with the entry on standard input. Over restarts of the daemon. Returns an
 * exit status when nobody reads, or nothing can be followed at all.
 */
int approvals_follow(const char *command, bool json);

#endif
