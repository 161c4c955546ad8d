/* SPDX-License-Identifier: Apache-2.0 */
/* Writes untrusted text in HTML, escaped so that it never becomes markup. */
#ifndef CORDON_INSIGHT_HTML_H
#define CORDON_INSIGHT_HTML_H

#include <stdio.h>

/*
 * Writes the text of an element or of a quoted attribute. Characters that could reorder or hide
 * text become \u{202e}, control characters \x1b, and NULL "?".
 */
void html_text(FILE *out, const char *text);

/* Formats a string, and writes it as text. */
void html_format(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
