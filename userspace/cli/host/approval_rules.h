/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that somebody approves: found out here, since they take too long for the daemon's loop.
 */
#ifndef CORDON_CLI_APPROVAL_RULES_H
#define CORDON_CLI_APPROVAL_RULES_H

#include <jansson.h>
#include <stdio.h>

#include "insight/text/style.h"

/*
 * Writes each rule by which a policy that waits allows more than the approved one that it is
 * compared with, or for the first of its name, anything. `entries`: where the approved one is.
 * False, with nothing written, where one of the two cannot be had as it is approved: then the
 * daemon's examples are all there is.
 */
bool approval_rules_write(FILE *out, const struct style *style, const json_t *entries,
			  const json_t *entry);

/*
 * The same for programs: "wider_rules" as `cordon policy diff --json` has them, or null where there
 * are only the daemon's examples, and "complete".
 */
void approval_rules_add(const json_t *entries, json_t *entry);

#endif
