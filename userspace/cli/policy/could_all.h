/* SPDX-License-Identifier: Apache-2.0 */
/* All that an execution of the log could have done by a policy that it was under. */
#ifndef CORDON_CLI_COULD_ALL_H
#define CORDON_CLI_COULD_ALL_H

#include <jansson.h>

#include "insight/text/style.h"

/*
 * The rules that allow anything, the gravest first, and what the variables stood for; a new
 * reference. `start`: the record of the execution's start. NULL: it was said why.
 */
json_t *could_all(const char *directory, const char *digest, const json_t *start);

void could_all_print(const struct style *style, const json_t *all);

#endif
