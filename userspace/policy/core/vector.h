/* SPDX-License-Identifier: Apache-2.0 */
/* Grows an array. */
#ifndef CORDON_POLICY_VECTOR_H
#define CORDON_POLICY_VECTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for `need` elements in *array; its capacity doubles. -ENOMEM: *array is unchanged. */
static inline int vector_reserve_bytes(void **array, size_t *capacity, size_t need, size_t size)
{
	size_t larger = *capacity ? *capacity : 64;
	void *moved;

	if (need <= *capacity)
		return 0;
	while (larger < need)
		larger *= 2;
	moved = reallocarray(*array, larger, size);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*capacity = larger;
	return 0;
}

#define vector_reserve(array, capacity, need)                                                      \
	({                                                                                         \
		void *vector_ = *(array);                                                          \
		int vector_error_ =                                                                \
			vector_reserve_bytes(&vector_, (capacity), (need), sizeof(**(array)));     \
		*(array) = vector_;                                                                \
		vector_error_;                                                                     \
	})

#endif
