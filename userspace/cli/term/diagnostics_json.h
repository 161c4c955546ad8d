/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a file, for programs: one shape in every command that reads one. */
#ifndef CORDON_CLI_DIAGNOSTICS_JSON_H
#define CORDON_CLI_DIAGNOSTICS_JSON_H

#include <jansson.h>

#include "policy/source/diagnostic.h"

/*
 * An array of objects, each with all of "severity" ("error", "warning", "note"), "file", "line", "column", "message" and
 * "fix"; null where that is not known. NULL: no memory, or a
 * text is no UTF-8.
 */
json_t *diagnostics_json(const struct diagnostics *diagnostics);

#endif
