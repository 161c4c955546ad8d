/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a JSON text takes once it is parsed, before it is: a parser needs some 200 bytes
 * for each array or object, and some 70 for each other value, of which the text may have two.
 */
#ifndef CORDON_BASE_JSON_BOUNDS_H
#define CORDON_BASE_JSON_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* Has the text no more arrays and objects, and no more values, than these? */
bool json_bounds_hold(const char *text, size_t size, size_t containers, size_t values);

#endif
