/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the arrays, objects and values of a JSON text without parsing it. */
#include "base/json_bounds.h"

bool json_bounds_hold(const char *text, size_t size, size_t containers, size_t values)
{
	bool in_string = false;

	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			in_string = c != '"';
			continue;
		}
		in_string = c == '"';
		if ((c == '{' || c == '[') && containers-- == 0)
			return false;
		if ((c == ',' || c == ':') && values-- == 0)
			return false;
	}
	return true;
}
