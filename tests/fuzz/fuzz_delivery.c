/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from hosts to the fleet's store. The first byte chooses the part that follows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/store/batch.h"
#include "fleet/store/delivery.h"
#include "fleet/store/presence.h"
#include "fleet/store/row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW 1700000000000000000ull

static void read_lines(struct delivery *delivery, const char *data, size_t size)
{
	unsigned char chain[SHA256_SIZE] = {};
	struct failure failure = {};
	struct batch batch = {};
	uint64_t sequence;

	delivery->data = data;
	delivery->size = size;
	if (batch_read(delivery, &batch, &failure) == 0) {
		sequence = batch.records[0].sequence - 1;
		(void)batch_follow(&batch, 0, &sequence, chain, &failure);
		for (size_t i = 0; i < batch.count; i++) {
			struct row row;

			row_from_record(batch.records[i].record, batch.records[i].sequence, &row);
		}
	}
	batch_free(&batch);
}

static void read_compressed(struct delivery *delivery, const char *data, size_t size)
{
	struct buffer text = {};

	if (delivery_inflate(data, size, &text) == 0)
		read_lines(delivery, text.data, text.size);
	buffer_free(&text);
}

/* A line with the chain's header, and the lines without their chain values. */
static void read_chained(struct delivery *delivery, const char *data, size_t size)
{
	const char *end = memchr(data, '\n', size);
	struct failure failure = {};
	struct buffer lines = {};
	char *header;

	if (!end)
		return;
	header = strndup(data, (size_t)(end - data));
	if (header &&
	    delivery_chain(header, end + 1, size - (size_t)(end + 1 - data), &lines, &failure) == 0)
		read_lines(delivery, lines.data, lines.size);
	buffer_free(&lines);
	free(header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct delivery delivery = {.now = NOW, .host = "ab", .log = "cd"};
	struct failure failure = {};
	struct presence presence;
	const char *digest;
	char *text, *exact;

	if (size < 2)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	/* An exact copy, so that a read behind its end is found. */
	exact = malloc(size - 1);
	if (!text || !exact)
		abort();
	memcpy(exact, data + 1, size - 1);
	switch (data[0] % 7) {
	case 0:
		(void)delivery_read_subject(text, &delivery, &failure);
		break;
	case 1:
		(void)delivery_read_policy_subject(text, &delivery, &digest, &failure);
		break;
	case 2:
		(void)delivery_read_headers(&delivery, NULL, NULL, text, &failure);
		break;
	case 3:
		read_compressed(&delivery, exact, size - 1);
		break;
	case 4:
		read_chained(&delivery, exact, size - 1);
		break;
	case 5:
		delivery.first_lane = data[0] & 0x80;
		read_lines(&delivery, exact, size - 1);
		break;
	case 6:
		(void)presence_read("cordon.presence.ab", exact, size - 1, &presence, &failure);
		break;
	}
	free(exact);
	free(text);
	return 0;
}
