/* SPDX-License-Identifier: Apache-2.0 */
/* NULL-terminated lists of strings. */
#ifndef CORDON_BASE_LISTED_H
#define CORDON_BASE_LISTED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool is_listed(const char *const *list, const char *text)
{
	while (*list && strcmp(*list, text) != 0)
		list++;
	return *list != NULL;
}

/* Returns the number of strings; 0 for NULL. */
static inline size_t list_length(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

#endif
