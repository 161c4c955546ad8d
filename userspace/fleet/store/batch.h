/* SPDX-License-Identifier: Apache-2.0 */
/* The records of one delivery, each read and held against what the delivery says of them. Pure. */
#ifndef CORDON_FLEET_BATCH_H
#define CORDON_FLEET_BATCH_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "base/sha256.h"
#include "fleet/store/delivery.h"

/* Records that say they are from so much later than the store's clock are kept apart. */
#define BATCH_AHEAD_MAX (24ull * 3600 * 1000000000)

struct batch_record {
	const char *line; /* borrowed from the delivery; with its newline */
	size_t size;	  /* newline included */
	uint64_t sequence;
	json_t *record;
};

struct batch {
	struct batch_record *records;
	size_t count;
	uint64_t newest; /* latest "@timestamp", ns; 0: none */
};

/*
 * -EBADMSG: something of it is not as it must be, and *failure says what: a line without end, too
 * long, no record, another host's or log's, from the future; seqs that do not follow each other
 * (bulk) or do not rise (first lane); or others than the header says. -ENOMEM.
 */
int batch_read(const struct delivery *delivery, struct batch *ret_batch, struct failure *failure);
void batch_free(struct batch *batch);

/*
 * Do the records from number `from` on follow from the record `sequence` with that chain value?
 * Then both are those of the last. -EBADMSG: no; -ENOMEM, -EIO.
 */
int batch_follow(const struct batch *batch, size_t from, uint64_t *sequence,
		 unsigned char chain[SHA256_SIZE], struct failure *failure);

#endif
