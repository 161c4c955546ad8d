/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that grow. The first failure (there is but one: no memory) is remembered, so that what is
 * written can be written down as a list of its parts.
 */
#ifndef CORDON_AUDIT_BUFFER_H
#define CORDON_AUDIT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

struct buffer {
	char *data;
	size_t size, capacity;
	bool failed;
};

static inline void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){};
}

/* Makes room for `size` more bytes; false: no memory. */
bool buffer_grow(struct buffer *buffer, size_t size);

static inline bool buffer_reserve(struct buffer *buffer, size_t size)
{
	return buffer->capacity - buffer->size >= size || buffer_grow(buffer, size);
}

static inline void buffer_add(struct buffer *buffer, const void *data, size_t size)
{
	if (size == 0 || !buffer_reserve(buffer, size))
		return;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
}

/* A string literal. */
#define buffer_literal(buffer, text) buffer_add(buffer, text, sizeof(text) - 1)

static inline void buffer_string(struct buffer *buffer, const char *text)
{
	buffer_add(buffer, text, strlen(text));
}

void buffer_number(struct buffer *buffer, uint64_t number);
void buffer_hex(struct buffer *buffer, const void *data, size_t size);

/* What is rare: at most 255 bytes. */
void buffer_print(struct buffer *buffer, const char *format, ...) _printf_(2, 3);

#endif
