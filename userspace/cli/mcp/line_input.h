/* SPDX-License-Identifier: Apache-2.0 */
/* Lines out of a stream of bytes, with a bound on what is held of one. */
#ifndef CORDON_CLI_MCP_LINE_INPUT_H
#define CORDON_CLI_MCP_LINE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "audit/text/buffer.h"

struct line_input {
	struct buffer bytes; /* of what was not taken yet */
	size_t limit;	     /* bytes of a line, without its end */
	size_t searched;     /* so many of them hold no end of a line */
	bool skipping;	     /* up to the end of a line that was too long */
};

void line_input_free(struct line_input *input);

/* -ENOMEM. */
int line_input_add(struct line_input *input, const void *data, size_t size);

enum line_found {
	LINE_NONE,     /* not until more is added */
	LINE_TAKEN,    /* *ret_line, NUL-terminated, which the caller frees */
	LINE_TOO_LONG, /* it is dropped; said once, as soon as that is certain */
};

enum line_found line_input_next(struct line_input *input, char **ret_line, size_t *ret_size);

#endif
