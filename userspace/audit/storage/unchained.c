/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the chain values off lines, and computes them again from the value before the first. */
#include "audit/storage/unchained.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "base/cleanup.h"
#include "base/hex.h"

/* What is left of a line: its body, and this. */
static const char end[] = "}\n";

/* --- without -------------------------------------------------------------------------------- */

static int strip_line(struct sha256 *hash, const char *line, size_t size,
		      unsigned char chain[SHA256_SIZE], struct buffer *to)
{
	unsigned char claimed[SHA256_SIZE], computed[SHA256_SIZE];
	uint64_t sequence;
	size_t body;
	int r = chain_split(line, size, &body, &sequence, claimed);

	if (r == 0)
		r = chain_digest(hash, chain, line, body, computed);
	if (r < 0)
		return r;
	if (memcmp(claimed, computed, SHA256_SIZE) != 0)
		return -EBADMSG;
	buffer_add(to, line, body);
	buffer_literal(to, end);
	memcpy(chain, computed, SHA256_SIZE);
	return to->failed ? -ENOMEM : 0;
}

int unchained_strip(const struct buffer *lines, const unsigned char before[SHA256_SIZE],
		    struct buffer *ret_text, unsigned char ret_last[SHA256_SIZE])
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	const char *at = lines->data, *last = at + lines->size;
	unsigned char chain[SHA256_SIZE];

	if (!hash)
		return -ENOMEM;
	ret_text->size = 0;
	ret_text->failed = false;
	memcpy(chain, before, sizeof(chain));
	while (at < last) {
		const char *newline = memchr(at, '\n', (size_t)(last - at));
		int r = newline ? strip_line(hash, at, (size_t)(newline - at), chain, ret_text)
				: -EBADMSG;

		if (r < 0)
			return r;
		at = newline + 1;
	}
	memcpy(ret_last, chain, sizeof(chain));
	return 0;
}

/* --- and with them again -------------------------------------------------------------------- */

static int restore_line(struct sha256 *hash, const char *line, size_t size,
			unsigned char chain[SHA256_SIZE], struct buffer *to)
{
	char tail[CHAIN_TAIL_SIZE];
	uint64_t sequence;
	int r;

	if (size == 0 || line[size - 1] != end[0] || chain_sequence(line, size, &sequence) < 0)
		return -EBADMSG;
	r = chain_digest(hash, chain, line, size - 1, chain);
	if (r < 0)
		return r;
	chain_write_tail(chain, tail);
	buffer_add(to, line, size - 1);
	buffer_add(to, tail, sizeof(tail));
	return to->failed ? -ENOMEM : 0;
}

int unchained_restore(const char *text, size_t size, const unsigned char before[SHA256_SIZE],
		      const unsigned char last[SHA256_SIZE], size_t limit, struct buffer *ret_lines)
{
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	_cleanup_(buffer_free) struct buffer lines = {};
	const char *at = text, *stop = text + size;
	unsigned char chain[SHA256_SIZE];

	if (!hash)
		return -ENOMEM;
	memcpy(chain, before, sizeof(chain));
	while (at < stop) {
		const char *newline = memchr(at, '\n', (size_t)(stop - at));
		int r = newline ? restore_line(hash, at, (size_t)(newline - at), chain, &lines)
				: -EBADMSG;

		if (r == 0 && lines.size > limit)
			r = -EFBIG;
		if (r < 0)
			return r;
		at = newline + 1;
	}
	if (memcmp(chain, last, sizeof(chain)) != 0)
		return -EBADMSG;
	*ret_lines = lines;
	lines = (struct buffer){};
	return 0;
}

/* --- as text ---------------------------------------------------------------------------------- */

void unchained_format(const unsigned char before[SHA256_SIZE],
		      const unsigned char last[SHA256_SIZE], char text[UNCHAINED_TEXT_SIZE])
{
	hex_encode(before, SHA256_SIZE, text);
	text[SHA256_TEXT_SIZE - 1] = '-';
	hex_encode(last, SHA256_SIZE, text + SHA256_TEXT_SIZE);
}

int unchained_parse(const char *text, unsigned char ret_before[SHA256_SIZE],
		    unsigned char ret_last[SHA256_SIZE])
{
	char copy[UNCHAINED_TEXT_SIZE];

	if (strlen(text) != sizeof(copy) - 1 || text[SHA256_TEXT_SIZE - 1] != '-')
		return -EINVAL;
	memcpy(copy, text, sizeof(copy));
	copy[SHA256_TEXT_SIZE - 1] = '\0';
	return hex_decode(copy, ret_before, SHA256_SIZE) < 0 ||
			       hex_decode(copy + SHA256_TEXT_SIZE, ret_last, SHA256_SIZE) < 0
		       ? -EINVAL
		       : 0;
}
