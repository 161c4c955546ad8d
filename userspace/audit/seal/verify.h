/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a log complete and unaltered? Without a key: as far as its chain tells. With the verification
 * key: what is sealed cannot have been written anew, not even by root, and nothing sealed was cut
 * off at the end.
 */
#ifndef CORDON_AUDIT_VERIFY_H
#define CORDON_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/seal/seal.h"
#include "base/failure.h"
#include "base/sha256.h"

struct verify_options {
	/*
	 * Verification keys: that of the log, and where it was replaced, those before and behind
	 * it.
	 */
	const unsigned char (*keys)[SEAL_KEY_SIZE];
	size_t key_count;
	/*
	 * Each may be NULL. A problem says where. A note is worth knowing, but nothing is wrong
	 * with the log.
	 */
	void (*problem)(void *data, const char *text);
	void (*note)(void *data, const char *text);
	/* Now and then: how many bytes of the log's files were read, of how many. */
	void (*progress)(void *data, uint64_t done, uint64_t all);
	void *progress_data;
	void *data; /* of the others */
};

struct verify_result {
	uint64_t records; /* that are well chained */
	uint64_t segments;
	uint64_t bytes;
	uint64_t problems;
	uint64_t notes;
	uint64_t torn_bytes; /* of a last line without its end: being written, or cut off */
	uint64_t
		first; /* seq of the first record; what came before was deleted on record, or is a problem */
	/* of the last record: keep them elsewhere to notice later that the end was cut off */
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
	uint64_t seals;
	uint64_t unchecked; /* seals whose key was not given */
	uint64_t proven;    /* good seals before any damage */
	/* seq of the last of them: with its key, all up to there is proven; 0: nothing is */
	uint64_t sealed;
	uint64_t behind; /* seq of the last good seal behind damage; 0: there is none */
};

/*
 * 0 when it could be read to its end, whatever was found; errors as audit_reader_open() and
 * _next().
 */
int verify_log(const char *directory, const struct verify_options *options,
	       struct verify_result *ret_result, struct failure *failure);

#endif
