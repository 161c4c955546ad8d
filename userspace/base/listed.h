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

#endif
