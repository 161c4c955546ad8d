/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a program wrote: of much, the beginning and the end. */
#include "cli/mcp/capture.h"

#include <inttypes.h>

#include "audit/text/text.h"

void capture_free(struct capture *capture)
{
	buffer_free(&capture->head);
	buffer_free(&capture->tail);
}

/* Twice the limit is held before the older half goes, so that each byte is moved once. */
static void add_tail(struct capture *c, const char *data, size_t size)
{
	size_t extra;

	if (size > c->limit) {
		data += size - c->limit;
		size = c->limit;
	}
	buffer_add(&c->tail, data, size);
	if (c->tail.size < 2 * c->limit)
		return;
	extra = c->tail.size - c->limit;
	memmove(c->tail.data, c->tail.data + extra, c->limit);
	c->tail.size = c->limit;
}

int capture_add(struct capture *c, const char *data, size_t size)
{
	size_t room = c->limit - c->head.size;
	size_t first = size < room ? size : room;

	c->total += size;
	buffer_add(&c->head, data, first);
	if (size > first)
		add_tail(c, data + first, size - first);
	return c->head.failed || c->tail.failed ? -ENOMEM : 0;
}

static size_t tail_size(const struct capture *c)
{
	return c->tail.size < c->limit ? c->tail.size : c->limit;
}

uint64_t capture_omitted(const struct capture *c)
{
	return c->total - c->head.size - tail_size(c);
}

json_t *capture_text(const struct capture *c)
{
	uint64_t omitted = capture_omitted(c);
	struct buffer whole = {};
	json_t *text;

	buffer_add(&whole, c->head.data, c->head.size);
	if (omitted > 0)
		buffer_print(&whole, "\n[%" PRIu64 " bytes are left out here]\n", omitted);
	if (c->tail.size > 0)
		buffer_add(&whole, c->tail.data + c->tail.size - tail_size(c), tail_size(c));
	text = whole.failed ? NULL : text_lossy(whole.size > 0 ? whole.data : "", whole.size);
	buffer_free(&whole);
	return text;
}
