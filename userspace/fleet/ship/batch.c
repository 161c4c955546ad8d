/* SPDX-License-Identifier: Apache-2.0 */
/* Collects log lines into messages for the fleet's store. */
#include "fleet/ship/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/hex.h"

/* Values of event.action with the closing quote, so that the comparison matches whole values. */
static const char *const urgent[] = {"denial\"", "attempt\"", "gap\"", NULL};
static const char *const ahead[] = {"execution-end\"", "seal\"", "identity\"", "agent-heartbeat\"",
				    NULL};

static bool line_is_one_of(const char *line, size_t size, const char *const actions[])
{
	static const char member[] = "\"action\":\"";
	/* The action follows seq and time in every record; strings chosen by a task come later. */
	size_t head = size < 160 ? size : 160;
	const char *action = memmem(line, head, member, sizeof(member) - 1);
	size_t left;

	if (!action)
		return false;
	action += sizeof(member) - 1;
	left = size - (size_t)(action - line);
	for (size_t i = 0; actions[i]; i++)
		if (left >= strlen(actions[i]) &&
		    memcmp(action, actions[i], strlen(actions[i])) == 0)
			return true;
	return false;
}

void batch_clear(struct batch *batch)
{
	batch->first = batch->last = 0;
	batch->records = 0;
	batch->urgent = false;
	batch->follows = false;
	batch->lines.size = 0;
	batch->lines.failed = false;
}

void batch_release(struct batch *batch)
{
	buffer_free(&batch->lines);
	batch_clear(batch);
}

bool batch_is_full(const struct batch *batch, size_t size)
{
	return batch->records > 0 && (batch->records >= BATCH_RECORDS_MAX ||
				      batch->lines.size + size + 1 > BATCH_BYTES_MAX);
}

int batch_add(struct batch *batch, uint64_t sequence, const char *line, size_t size)
{
	size_t before = batch->lines.size;

	buffer_add(&batch->lines, line, size);
	buffer_literal(&batch->lines, "\n");
	if (batch->lines.failed) {
		batch->lines.failed = false;
		batch->lines.size = before;
		return -ENOMEM;
	}
	if (batch->records++ == 0)
		batch->first = sequence;
	batch->last = sequence;
	batch->urgent = batch->urgent || line_is_one_of(line, size, urgent);
	return 0;
}

void batch_subject(const struct batch *batch, char subject[BATCH_SUBJECT_SIZE])
{
	snprintf(subject, BATCH_SUBJECT_SIZE, "cordon.log.%s.%s.%s", batch->host, batch->log,
		 batch->lane == BATCH_FIRST ? "first" : "bulk");
}

int batch_id(const struct batch *batch, const unsigned char secret[SHA256_SIZE], const char *nonce,
	     char id[BATCH_ID_SIZE])
{
	unsigned char digest[SHA256_SIZE];
	char text[256];
	int size = snprintf(text, sizeof(text), "%s:%s:%" PRIu64 "-%" PRIu64 ":%.64s",
			    batch->lane == BATCH_FIRST ? "first" : "bulk", batch->log, batch->first,
			    batch->last, nonce ? nonce : "");

	if (!HMAC(EVP_sha256(), secret, SHA256_SIZE, (const unsigned char *)text, (size_t)size,
		  digest, NULL))
		return -EIO;
	hex_encode(digest, sizeof(digest), id);
	return 0;
}

void batch_range(const struct batch *batch, char range[BATCH_RANGE_SIZE])
{
	snprintf(range, BATCH_RANGE_SIZE, "%" PRIu64 "-%" PRIu64, batch->first, batch->last);
}

bool batch_line_goes_first(const char *line, size_t size)
{
	return line_is_one_of(line, size, urgent) || line_is_one_of(line, size, ahead);
}

int batch_compress(const struct buffer *text, struct buffer *ret)
{
	z_stream stream = {};
	int r;

	/* Window bits plus 16 select the gzip format instead of zlib. */
	if (deflateInit2(&stream, 4, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	ret->size = 0;
	ret->failed = false;
	if (!buffer_reserve(ret, deflateBound(&stream, text->size))) {
		deflateEnd(&stream);
		return -ENOMEM;
	}
	stream.next_in = (unsigned char *)text->data;
	stream.avail_in = (uInt)text->size;
	stream.next_out = (unsigned char *)ret->data;
	stream.avail_out = (uInt)ret->capacity;
	r = deflate(&stream, Z_FINISH);
	ret->size = stream.total_out;
	deflateEnd(&stream);
	return r == Z_STREAM_END ? 0 : -EIO;
}
