/* SPDX-License-Identifier: Apache-2.0 */
/* Computes and reads the digest in which each line of a log ends. */
#include "audit/storage/chain.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"

static const char head[] = "{\"seq\":";
static const char tail_open[] = ",\"chain\":\"";
static const char tail_close[] = "\"}";

int chain_digest(struct sha256 *hash, const unsigned char previous[SHA256_SIZE], const char *body,
		 size_t size, unsigned char ret_digest[SHA256_SIZE])
{
	int r;

	r = sha256_update(hash, previous, SHA256_SIZE);
	if (r < 0)
		return r;
	r = sha256_update(hash, body, size);
	if (r < 0)
		return r;
	return sha256_finish(hash, ret_digest);
}

void chain_write_tail(const unsigned char digest[SHA256_SIZE], char tail[CHAIN_TAIL_SIZE])
{
	char text[SHA256_TEXT_SIZE];
	size_t at = 0;

	hex_encode(digest, SHA256_SIZE, text);
	memcpy(tail, tail_open, sizeof(tail_open) - 1);
	at += sizeof(tail_open) - 1;
	memcpy(tail + at, text, sizeof(text) - 1);
	at += sizeof(text) - 1;
	memcpy(tail + at, tail_close, sizeof(tail_close) - 1);
	at += sizeof(tail_close) - 1;
	tail[at] = '\n';
}

static int parse_sequence(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	for (; i < size && text[i] >= '0' && text[i] <= '9'; i++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return -EBADMSG;
	}
	if (i == 0 || i == size || text[i] != ',' || text[0] == '0')
		return -EBADMSG;
	*ret = value;
	return 0;
}

int chain_sequence(const char *line, size_t size, uint64_t *ret_sequence)
{
	const size_t skip = sizeof(head) - 1;

	if (size < skip || memcmp(line, head, skip) != 0)
		return -EBADMSG;
	return parse_sequence(line + skip, size - skip, ret_sequence);
}

/* From a tail without its newline. */
static int read_tail(const char *tail, unsigned char digest[SHA256_SIZE])
{
	char text[SHA256_TEXT_SIZE];

	if (memcmp(tail, tail_open, sizeof(tail_open) - 1) != 0 ||
	    memcmp(tail + CHAIN_TAIL_SIZE - 1 - (sizeof(tail_close) - 1), tail_close,
		   sizeof(tail_close) - 1) != 0)
		return -EBADMSG;
	memcpy(text, tail + sizeof(tail_open) - 1, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	/* One spelling only: upper-case digits would be an edit that the digest does not see. */
	for (const char *c = text; *c; c++)
		if (*c >= 'A' && *c <= 'F')
			return -EBADMSG;
	return hex_decode(text, digest, SHA256_SIZE) < 0 ? -EBADMSG : 0;
}

int chain_read_tail(const char tail[CHAIN_TAIL_SIZE], unsigned char ret_digest[SHA256_SIZE])
{
	unsigned char digest[SHA256_SIZE];

	if (tail[CHAIN_TAIL_SIZE - 1] != '\n' || read_tail(tail, digest) < 0)
		return -EBADMSG;
	memcpy(ret_digest, digest, sizeof(digest));
	return 0;
}

int chain_split(const char *line, size_t size, size_t *ret_body, uint64_t *ret_sequence,
		unsigned char ret_digest[SHA256_SIZE])
{
	const size_t tail_size = CHAIN_TAIL_SIZE - 1;
	unsigned char digest[SHA256_SIZE];
	uint64_t sequence;

	if (size < sizeof(head) - 1 + tail_size)
		return -EBADMSG;
	if (read_tail(line + size - tail_size, digest) < 0)
		return -EBADMSG;
	if (chain_sequence(line, size, &sequence) < 0)
		return -EBADMSG;
	memcpy(ret_digest, digest, sizeof(digest));
	*ret_body = size - tail_size;
	*ret_sequence = sequence;
	return 0;
}
