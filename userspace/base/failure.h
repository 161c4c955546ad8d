/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something failed, in words for the person who asked: what failed, on what, and what to
 * do. Libraries fill one in; only the command line prints it.
 */
#ifndef CORDON_BASE_FAILURE_H
#define CORDON_BASE_FAILURE_H

#include "base/cleanup.h"

struct failure {
	char text[1024]; /* one line or a few, no newline at the end; "" when unset */
};

/*
 * Fills *f (which may be NULL) unless it already says something: the innermost cause, written
 * first, is the most precise. Returns -abs(error), so that callers can write
 * `return failure_set(f, errno, "cannot open %s: %m", path);`. %m speaks of `error`.
 */
int failure_set(struct failure *f, int error, const char *format, ...) _printf_(3, 4);

/* The same, but replaces what *f said: for callers that know better than the cause. */
int failure_replace(struct failure *f, int error, const char *format, ...) _printf_(3, 4);

#endif
