/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines, chain values, keys and claims of seals of any bytes: taken apart as they were put
 * together, or refused.
 */
#include <stdint.h>
#include <string.h>

#include "audit/storage/chain.h"
#include "audit/seal/seal.h"

static void claim(const char *line, size_t size)
{
	struct seal_claim claim;
	struct seal_key key = {};
	char text[SEAL_RECORD_SIZE];
	size_t length;

	if (seal_claim_parse(line, size, &claim) < 0)
		return;
	if (claim.covered > size)
		abort();
	/* What was parsed is what is written: one spelling only, as far as the MAC goes. */
	key.number = claim.number;
	memcpy(key.id, claim.id, sizeof(key.id));
	length = seal_claim_format("2025-11-21T00:00:00.000000000Z", &key,
				   claim.last ? claim.next : NULL, claim.boot_nsec, text);
	if (length >= sizeof(text) || length > claim.covered ||
	    memcmp(text + length - 9, line + claim.covered - 9, 9) != 0)
		abort();
}

static void line(const char *data, size_t size)
{
	unsigned char digest[SHA256_SIZE];
	char tail[CHAIN_TAIL_SIZE];
	uint64_t sequence, again;
	size_t body;

	if (chain_split(data, size, &body, &sequence, digest) < 0)
		return;
	if (body + CHAIN_TAIL_SIZE - 1 != size || chain_sequence(data, size, &again) < 0 ||
	    again != sequence)
		abort();
	chain_write_tail(digest, tail);
	if (memcmp(tail, data + body, CHAIN_TAIL_SIZE - 1) != 0)
		abort();
}

static void key(const char *data, size_t size)
{
	unsigned char bytes[SEAL_KEY_SIZE], again[SEAL_KEY_SIZE];
	char text[SEAL_TEXT_SIZE], *copy = strndup(data, size);

	if (copy && seal_parse(copy, bytes) == 0) {
		seal_format(bytes, text);
		if (seal_parse(text, again) < 0 || memcmp(bytes, again, sizeof(bytes)) != 0)
			abort();
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	claim(text, size);
	line(text, size);
	key(text, size);
	return 0;
}
