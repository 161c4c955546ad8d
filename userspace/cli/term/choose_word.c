/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options whose value is one of a few words. */
#include "cli/term/choose_word.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/term/message.h"

#define LIST_SIZE 1024

/* "a, b or c" */
static void list(const char *const *words, size_t count, char text[LIST_SIZE])
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && length < LIST_SIZE; i++) {
		const char *joint = i == 0 ? "" : i + 1 == count ? " or " : ", ";
		int n = snprintf(text + length, LIST_SIZE - length, "%s%s", joint, words[i]);

		length += n > 0 ? (size_t)n : LIST_SIZE;
	}
}

int choose_word(const char *taker, const char *word, const char *const *words, size_t count)
{
	char all[LIST_SIZE];
	const char *near;

	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], word) == 0)
			return (int)i;
	list(words, count, all);
	near = suggest(word, words, count);
	if (near)
		message("%s takes %s, not \"%s\"; did you mean \"%s\"?", taker, all, word, near);
	else
		message("%s takes %s, not \"%s\"", taker, all, word);
	return -EINVAL;
}
