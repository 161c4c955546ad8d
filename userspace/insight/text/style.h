/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: colours where they are wanted, and untrusted text made harmless. Whatever
 * comes from a record goes through style_text().
 */
#ifndef CORDON_INSIGHT_STYLE_H
#define CORDON_INSIGHT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct style {
	bool color;	    /* ANSI colours */
	bool unicode;	    /* the reader's terminal understands UTF-8 */
	unsigned int width; /* columns; 0: as many as it takes */
};

enum style_role {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_BAD,  /* refused, failed */
	STYLE_WARN, /* would be refused, lost */
	STYLE_GOOD,
	STYLE_NAME, /* what the eye looks for */
	STYLE_ROLE_COUNT,
};

/* Both write nothing without colour. */
void style_begin(FILE *out, const struct style *style, enum style_role role);
void style_end(FILE *out, const struct style *style, enum style_role role);

/*
 * Writes `text` (UTF-8; what is none is shown, too) with control characters and what could
 * reorder or hide text as \x1b or \u{202e}, everything beyond ASCII so unless style->unicode.
 * Returns the columns taken, a character counting as one.
 */
size_t style_text(FILE *out, const struct style *style, const char *text);

/* The same in a role; at most `limit` columns (0: no limit), with "..." for what is left out. */
size_t style_text_in(FILE *out, const struct style *style, enum style_role role, const char *text,
		     size_t limit);

/* Spaces. */
void style_pad(FILE *out, size_t columns);

/* "1.24 s", "350 ms", "2 min 5 s"; "24.1 MiB" */
#define STYLE_QUANTITY_SIZE 32
void style_duration(unsigned long long nsec, char text[STYLE_QUANTITY_SIZE]);
void style_bytes(unsigned long long bytes, char text[STYLE_QUANTITY_SIZE]);

#endif
