/* SPDX-License-Identifier: Apache-2.0 */
/* What a program wrote: of much, the beginning and the end. */
#ifndef CORDON_CLI_MCP_CAPTURE_H
#define CORDON_CLI_MCP_CAPTURE_H

#include <jansson.h>
#include <stdint.h>

#include "audit/text/buffer.h"

struct capture {
	size_t limit; /* bytes of the beginning, and as many of the end */
	struct buffer head, tail;
	uint64_t total;
};

void capture_free(struct capture *capture);

/* -ENOMEM. */
int capture_add(struct capture *capture, const char *data, size_t size);

/* So much of the middle is not there. */
uint64_t capture_omitted(const struct capture *capture);

/*
 * As text: U+FFFD in place of what is none, and a line about what is left out. NULL without memory.
 */
json_t *capture_text(const struct capture *capture);

#endif
