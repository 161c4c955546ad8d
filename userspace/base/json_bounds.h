/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the memory of a JSON text before it is parsed. A parser needs about 200 bytes for each
 * array or object, and 70 for each other value, which may need only two bytes of text.
 */
#ifndef CORDON_BASE_JSON_BOUNDS_H
#define CORDON_BASE_JSON_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text has at most this many arrays and objects, and at most this many values. */
bool json_bounds_hold(const char *text, size_t size, size_t containers, size_t values);

#endif
