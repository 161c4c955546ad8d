/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" */
#ifndef CORDON_CLI_SUGGEST_H
#define CORDON_CLI_SUGGEST_H

#include <stddef.h>

/* The one of `names` that is nearest to `word`, or NULL if none is near. */
const char *suggest(const char *word, const char *const *names, size_t count);

#endif
