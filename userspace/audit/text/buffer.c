/* SPDX-License-Identifier: Apache-2.0 */
/* A byte buffer that grows; the first failure is remembered. */
#include "audit/text/buffer.h"

#include <stdarg.h>

#include "base/hex.h"

#define SMALLEST 4096u

bool buffer_grow(struct buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity ? buffer->capacity : SMALLEST;
	char *grown;

	if (buffer->failed)
		return false;
	while (capacity - buffer->size < size)
		capacity *= 2;
	grown = realloc(buffer->data, capacity);
	if (!grown) {
		buffer->failed = true;
		return false;
	}
	buffer->data = grown;
	buffer->capacity = capacity;
	return true;
}

void buffer_number(struct buffer *buffer, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char text[20];
	size_t at = sizeof(text);

	while (number >= 100) {
		at -= 2;
		memcpy(text + at, pairs + 2 * (number % 100), 2);
		number /= 100;
	}
	if (number >= 10) {
		at -= 2;
		memcpy(text + at, pairs + 2 * number, 2);
	} else {
		text[--at] = (char)('0' + number);
	}
	buffer_add(buffer, text + at, sizeof(text) - at);
}

void buffer_hex(struct buffer *buffer, const void *data, size_t size)
{
	if (!buffer_reserve(buffer, 2 * size + 1))
		return;
	hex_encode(data, size, buffer->data + buffer->size);
	buffer->size += 2 * size;
}

void buffer_print(struct buffer *buffer, const char *format, ...)
{
	char text[256];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0)
		buffer_add(buffer, text,
			   (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}
