/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people, with optional colours and escaped untrusted text. Invariant: all text from
 * records goes through style_text().
 */
#ifndef CORDON_INSIGHT_STYLE_H
#define CORDON_INSIGHT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct style {
	bool color;	    /* ANSI colours */
	bool unicode;	    /* the terminal supports UTF-8 */
	unsigned int width; /* columns; 0: unlimited */
};

enum style_role {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_BAD,  /* denied, failed */
	STYLE_WARN, /* would be denied, lost */
	STYLE_GOOD,
	STYLE_NAME, /* emphasized names */
	STYLE_ROLE_COUNT,
};

/* Both write nothing without colour. */
void style_begin(FILE *out, const struct style *style, enum style_role role);
void style_end(FILE *out, const struct style *style, enum style_role role);

/*
 * Writes `text` with control characters and characters that could reorder or hide text as \x1b or
 * \u{202e}, and with invalid UTF-8 escaped. Also escapes everything beyond ASCII unless
 * style->unicode. Returns the columns, one per character.
 */
size_t style_text(FILE *out, const struct style *style, const char *text);

/*
 * Writes the text in a role, with at most `limit` columns (0: no limit) and "..." for the omitted
 * part.
 */
size_t style_text_in(FILE *out, const struct style *style, enum style_role role, const char *text,
		     size_t limit);

/* Writes spaces. */
void style_pad(FILE *out, size_t columns);

/* "1.24 s", "350 ms", "2 min 5 s"; "24.1 MiB" */
#define STYLE_QUANTITY_SIZE 32
void style_duration(unsigned long long nsec, char text[STYLE_QUANTITY_SIZE]);
void style_bytes(unsigned long long bytes, char text[STYLE_QUANTITY_SIZE]);

#endif
