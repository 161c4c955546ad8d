/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in a list that ends in NULL. */
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

/* How many there are; of NULL, too. */
static inline size_t list_length(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

#endif
