/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for one compilation: many small objects, released together. */
#ifndef CORDON_POLICY_ARENA_H
#define CORDON_POLICY_ARENA_H

#include <stddef.h>

#include "base/cleanup.h"

struct arena;

/* NULL: no memory. */
struct arena *arena_new(void);
void arena_free(struct arena *a);
DEFINE_CLEANUP(struct arena *, arena_free, arena_freep)

/* Zeroed, aligned for any type; NULL: no memory. */
void *arena_alloc(struct arena *a, size_t size);

/* `size` bytes, followed by a NUL; NULL: no memory. */
char *arena_copy(struct arena *a, const char *text, size_t size);

char *arena_printf(struct arena *a, const char *format, ...) _printf_(2, 3);

/*
 * Makes room for one more element after `count` in an array of the arena. The array may move; its
 * old memory is not reused until arena_free(). NULL: no memory, `array` stays valid.
 */
void *arena_grow(struct arena *a, void *array, size_t count, size_t element_size);

#endif
