/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reason of an error as a message for users: what failed, on what, and what to do. Libraries
 * set it; only programs print it.
 */
#ifndef CORDON_BASE_FAILURE_H
#define CORDON_BASE_FAILURE_H

#include "base/cleanup.h"

struct failure {
	char text[1024]; /* one or a few lines, no final newline; "" when unset */
};

/*
 * Sets the text of *f, which may be NULL, unless it is already set: the innermost cause, set first,
 * is the most precise. Returns -abs(error), so that callers can write `return failure_set(f, errno,
 * "cannot open %s: %m", path);`. %m formats `error`.
 */
int failure_set(struct failure *f, int error, const char *format, ...) _printf_(3, 4);

/* The same, but replaces an existing text, for callers with a better description. */
int failure_replace(struct failure *f, int error, const char *format, ...) _printf_(3, 4);

#endif
