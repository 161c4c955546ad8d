/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a policy file, and where: errors, warnings and notes with file, line and
 * column, all of them in one go. Shown by the caller; nothing here prints.
 */
#ifndef CORDON_POLICY_DIAGNOSTIC_H
#define CORDON_POLICY_DIAGNOSTIC_H

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

enum diagnostic_severity {
	DIAGNOSTIC_ERROR,
	DIAGNOSTIC_WARNING,
	DIAGNOSTIC_NOTE, /* nothing is wrong, but it may surprise */
};

/* line and column count from 1; 0: the file as a whole. */
struct diagnostic {
	enum diagnostic_severity severity;
	char *file;
	unsigned int line;
	unsigned int column;
	char *message; /* what is wrong */
	char *hint;    /* what to do, or NULL */
	char *excerpt; /* the offending line, or NULL */
};

struct diagnostics;

struct diagnostics *diagnostics_new(void);
void diagnostics_free(struct diagnostics *d);
DEFINE_CLEANUP(struct diagnostics *, diagnostics_free, diagnostics_freep)

/*
 * Adds one; the texts are copied, control characters stay as they are. `excerpt` has
 * `excerpt_size` bytes and may be NULL, as `hint` may. Never fails in the caller's sight: memory
 * that ran out is remembered, see diagnostics_failed(). Beyond DIAGNOSTICS_MAX entries errors are
 * only counted, and the last entry says so.
 */
#define DIAGNOSTICS_MAX 256
void diagnostics_add(struct diagnostics *d, const struct diagnostic *entry, size_t excerpt_size,
		     const char *format, va_list arguments) _printf_(4, 0);

/* 1: an entry could not be stored for want of memory. */
int diagnostics_failed(const struct diagnostics *d);

size_t diagnostics_count(const struct diagnostics *d);
size_t diagnostics_errors(const struct diagnostics *d);
const struct diagnostic *diagnostics_at(const struct diagnostics *d, size_t index);

/*
 * All of them as text, in the style of compilers:
 *
 *   policies/x.yaml:12:5: error: unknown key "path" in a file rule
 *      12 |   - {allow: [read], path: /etc}
 *         |                     ^
 *   hint: did you mean "paths"?
 *
 * With `color`, severities and carets carry ANSI colours. Control characters from the file are
 * shown escaped. Caller frees; NULL without memory.
 */
char *diagnostics_format(const struct diagnostics *d, int color);

#endif
