/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused, for a model: a sentence each, and the rule to propose. */
#ifndef CORDON_CLI_MCP_REFUSALS_H
#define CORDON_CLI_MCP_REFUSALS_H

#include <jansson.h>

/*
 * From the `denials` of `cordon run --report` or of `cordon why --json`: an array of at most
 * `limit` objects {"sentence": ..., "proposal": rules as YAML or null, "count": n}; a new
 * reference, or NULL without memory.
 */
json_t *refusals_of(const json_t *denials, size_t limit);

/*
 * The same as text, a line or more for each; then `proposal`, which the report or `cordon why` has
 * for all of them, or NULL: then each with its own rules. NULL without memory; caller frees.
 */
char *refusals_text(const json_t *refusals, json_int_t omitted, const json_t *proposal);

#endif
