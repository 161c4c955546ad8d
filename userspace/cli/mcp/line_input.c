/* SPDX-License-Identifier: Apache-2.0 */
/* Lines out of a stream of bytes, with a bound on what is held of one. */
#include "cli/mcp/line_input.h"

#include <string.h>

void line_input_free(struct line_input *input)
{
	buffer_free(&input->bytes);
}

int line_input_add(struct line_input *input, const void *data, size_t size)
{
	buffer_add(&input->bytes, data, size);
	return input->bytes.failed ? -ENOMEM : 0;
}

static void drop(struct line_input *input, size_t size)
{
	input->bytes.size -= size;
	if (input->bytes.size > 0)
		memmove(input->bytes.data, input->bytes.data + size, input->bytes.size);
	input->searched = 0;
}

/* Where the first line ends; -1: it goes on. What was searched before is not searched again. */
static ssize_t find_end(struct line_input *input)
{
	size_t left = input->bytes.size - input->searched;
	const char *end;

	if (left == 0)
		return -1;
	end = memchr(input->bytes.data + input->searched, '\n', left);
	if (end)
		return end - input->bytes.data;
	input->searched = input->bytes.size;
	return -1;
}

enum line_found line_input_next(struct line_input *input, char **ret_line, size_t *ret_size)
{
	ssize_t end = find_end(input);
	size_t size = end < 0 ? input->bytes.size : (size_t)end;
	bool skipped = input->skipping;
	char *line;

	if (skipped || size > input->limit) {
		drop(input, end < 0 ? size : size + 1);
		input->skipping = end < 0;
		if (!skipped)
			return LINE_TOO_LONG;
		return end < 0 ? LINE_NONE : line_input_next(input, ret_line, ret_size);
	}
	if (end < 0)
		return LINE_NONE;
	line = malloc(size + 1);
	if (line) {
		memcpy(line, input->bytes.data, size);
		line[size] = '\0';
	}
	drop(input, size + 1);
	if (!line)
		return LINE_TOO_LONG;
	*ret_line = line;
	*ret_size = size;
	return LINE_TAKEN;
}
