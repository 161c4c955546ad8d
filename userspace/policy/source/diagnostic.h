/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics of a policy file: all errors, warnings and notes with file, line and column. The
 * caller prints them.
 */
#ifndef CORDON_POLICY_DIAGNOSTIC_H
#define CORDON_POLICY_DIAGNOSTIC_H

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

enum diagnostic_severity {
	DIAGNOSTIC_ERROR,
	DIAGNOSTIC_WARNING,
	DIAGNOSTIC_NOTE, /* not a problem, but possibly unexpected */
};

/* `line` and `column` start at 1; 0: the file as a whole. */
struct diagnostic {
	enum diagnostic_severity severity;
	char *file;
	unsigned int line;
	unsigned int column;
	char *message; /* the problem */
	char *hint;    /* how to fix it, or NULL */
	char *excerpt; /* the offending line, or NULL */
};

struct diagnostics;

struct diagnostics *diagnostics_new(void);
void diagnostics_free(struct diagnostics *d);
DEFINE_CLEANUP(struct diagnostics *, diagnostics_free, diagnostics_freep)

/*
 * Adds one entry. The texts are copied, with their control characters. `excerpt` has `excerpt_size`
 * bytes; it and `hint` may be NULL. The function cannot fail: running out of memory is remembered,
 * see diagnostics_failed(). After DIAGNOSTICS_MAX entries, errors are only counted, and the last
 * entry contains the count.
 */
#define DIAGNOSTICS_MAX 256
void diagnostics_add(struct diagnostics *d, const struct diagnostic *entry, size_t excerpt_size,
		     const char *format, va_list arguments) _printf_(4, 0);

/* 1: an entry could not be stored because of missing memory. */
int diagnostics_failed(const struct diagnostics *d);

size_t diagnostics_count(const struct diagnostics *d);
size_t diagnostics_errors(const struct diagnostics *d);
const struct diagnostic *diagnostics_at(const struct diagnostics *d, size_t index);

/*
 * All entries as text, in the style of compilers:
 *
 *  policies/x.yaml:12:5: error: unknown key "path" in a file rule
 *     12 | - {allow: [read], path: /etc}
 *        | ^
 *  hint: did you mean "paths"?
 *
 * With `color`, severities and carets have ANSI colours. Control characters from the file are
 * escaped. Caller frees; NULL: no memory.
 */
char *diagnostics_format(const struct diagnostics *d, int color);

#endif
