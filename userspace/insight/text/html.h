/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted text in HTML: it shows as what it is, and never becomes markup. */
#ifndef CORDON_INSIGHT_HTML_H
#define CORDON_INSIGHT_HTML_H

#include <stdio.h>

/*
 * As the text of an element or of a quoted attribute. What could reorder or hide text shows as
 * \u{202e}, control characters as \x1b, and NULL as "?".
 */
void html_text(FILE *out, const char *text);

/* Formats, and writes that as text. */
void html_format(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
