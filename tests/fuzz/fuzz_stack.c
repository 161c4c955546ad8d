/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a held process's memory as its initial stack: within bounds, whatever they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adopt/initial_stack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const variables[] = {(char *)"CORDON=1", (char *)"TMPDIR=/tmp/x", NULL};
	size_t count = size / sizeof(uint64_t), lengthened = 0;
	struct initial_stack stack;
	uint64_t *words, address, arguments;
	void *bytes = NULL;

	if (count < 1)
		return 0;
	words = malloc(count * sizeof(*words));
	if (!words)
		return 0;
	memcpy(words, data, count * sizeof(*words));
	arguments = count > 1 ? words[1] : 0;
	if (initial_stack_parse(words, count, arguments, &stack) == 0) {
		if (stack.count > count || stack.variable > stack.count ||
		    stack.variable_count > stack.count - stack.variable)
			abort();
		if (initial_stack_lengthen(&stack, 0x7fff00000000, variables, &bytes, &lengthened,
					   &address) == 0 &&
		    (address % 16 != 0 || lengthened < stack.count * sizeof(uint64_t)))
			abort();
		free(bytes);
	}
	free(words);
	return 0;
}
