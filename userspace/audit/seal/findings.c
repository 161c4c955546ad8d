/* SPDX-License-Identifier: Apache-2.0 */
/* What checking a log comes upon, told as it is found, and counted. */
#include "audit/seal/findings.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 1024

_printf_(3, 0) static void tell(void (*listener)(void *data, const char *text), void *data,
				const char *format, va_list args)
{
	char text[TEXT_SIZE];

	if (!listener)
		return;
	vsnprintf(text, sizeof(text), format, args);
	listener(data, text);
}

void findings_problem(struct findings *findings, const char *format, ...)
{
	va_list args;

	findings->problems++;
	va_start(args, format);
	tell(findings->problem, findings->data, format, args);
	va_end(args);
}

void findings_note(struct findings *findings, const char *format, ...)
{
	va_list args;

	findings->notes++;
	va_start(args, format);
	tell(findings->note, findings->data, format, args);
	va_end(args);
}
