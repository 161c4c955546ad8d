/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...?" */
#ifndef CORDON_BASE_SUGGEST_H
#define CORDON_BASE_SUGGEST_H

#include <stddef.h>

/*
 * The closest of `count` names, or NULL if none is close (optimal string alignment distance, Damerau 1964: one edit in
 * three letters, and one in a shorter word).
 */
const char *suggest(const char *word, const char *const *names, size_t count);

#endif
