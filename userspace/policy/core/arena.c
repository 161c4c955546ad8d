/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for one compilation: many small objects, released together. */
#include "policy/core/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 65536u
#define ALIGNMENT  16u

struct block {
	struct block *next;
	size_t size, used;
	_Alignas(ALIGNMENT) unsigned char data[];
};

struct arena {
	struct block *blocks;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b = a->blocks;
	size_t rounded;
	void *result;

	if (size > SIZE_MAX / 2)
		return NULL;
	rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!b || b->size - b->used < rounded) {
		size_t room = rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE;

		b = malloc(sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->used = 0;
		b->next = a->blocks;
		a->blocks = b;
	}
	result = b->data + b->used;
	b->used += rounded;
	memset(result, 0, rounded);
	return result;
}

char *arena_copy(struct arena *a, const char *text, size_t size)
{
	char *copy = arena_alloc(a, size + 1);

	if (copy && size)
		memcpy(copy, text, size);
	return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		return NULL;
	text = arena_alloc(a, (size_t)length + 1);
	if (!text)
		return NULL;
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

/*
 * The array is full at every power of two from 4 on, so the count alone shows whether there is
 * room.
 */
void *arena_grow(struct arena *a, void *array, size_t count, size_t element_size)
{
	void *larger;

	if (array && (count < 4 || (count & (count - 1)) != 0))
		return array;
	larger = arena_alloc(a, (count < 4 ? 4 : count * 2) * element_size);
	if (larger && array)
		memcpy(larger, array, count * element_size);
	return larger;
}
