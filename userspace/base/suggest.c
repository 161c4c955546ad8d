/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the name closest to a misspelled word. */
#include "base/suggest.h"

#include <string.h>

#include "base/cleanup.h"

#define MAX_LENGTH 63

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/*
 * Insertions, deletions, replacements and swaps of neighbours: the optimal string alignment
 * distance.
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][MAX_LENGTH + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length > MAX_LENGTH || b_length > MAX_LENGTH)
		return MAX_LENGTH;
	for (size_t j = 0; j <= b_length; j++)
		above[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *last = before;

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1, row[j]);
		}
		before = above;
		above = row;
		row = last;
	}
	return above[b_length];
}

const char *suggest(const char *word, const char *const *names, size_t count)
{
	size_t length = strlen(word), nearest = (length < 4 ? 1 : length / 3 + 1) + 1;
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(word, names[i]);

		/* A name without any common letter is not a misspelling. */
		if (d < nearest && d < length) {
			nearest = d;
			found = names[i];
		}
	}
	return found;
}
