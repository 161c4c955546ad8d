/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/findings.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 1024

void findings_problem(struct findings *findings, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->problems++;
	if (findings->problem)
		findings->problem(findings->data, text);
}

void findings_note(struct findings *findings, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings->notes++;
	if (findings->note)
		findings->note(findings->data, text);
}
