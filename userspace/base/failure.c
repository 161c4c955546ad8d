/* SPDX-License-Identifier: Apache-2.0 */
/* The reason of an error as a message for users: what failed, on what, and what to do. */
#include "base/failure.h"

#include <stdarg.h>

static _printf_(3, 0) void format_text(struct failure *f, int error, const char *format,
				       va_list args)
{
	/* %m formats errno. */
	errno = error;
	vsnprintf(f->text, sizeof(f->text), format, args);
}

int failure_set(struct failure *f, int error, const char *format, ...)
{
	va_list args;

	error = abs(error);
	if (f && f->text[0] == '\0') {
		va_start(args, format);
		format_text(f, error, format, args);
		va_end(args);
	}
	return -error;
}

int failure_replace(struct failure *f, int error, const char *format, ...)
{
	va_list args;

	error = abs(error);
	if (f) {
		va_start(args, format);
		format_text(f, error, format, args);
		va_end(args);
	}
	return -error;
}
