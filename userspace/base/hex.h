/* SPDX-License-Identifier: Apache-2.0 */
/* Lower-case hexadecimal. */
#ifndef CORDON_BASE_HEX_H
#define CORDON_BASE_HEX_H

#include <stddef.h>

/* Writes 2 * size digits and a NUL to `text`. */
void hex_encode(const void *data, size_t size, char *text);

/* Decodes digits of either case. Returns 0, or -EINVAL unless there are exactly 2 * size digits. */
int hex_decode(const char *text, void *data, size_t size);

#endif
