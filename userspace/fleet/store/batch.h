/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the records of one delivery and compares them with its subject and headers. No I/O. */
#ifndef CORDON_FLEET_BATCH_H
#define CORDON_FLEET_BATCH_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "base/sha256.h"
#include "fleet/store/delivery.h"

/* Records with a timestamp further ahead of the store's clock are quarantined. */
#define BATCH_AHEAD_MAX (24ull * 3600 * 1000000000)

struct batch_record {
	const char *line; /* points into the delivery; includes the newline */
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
 * Parses and checks a delivery. Returns 0, -ENOMEM, or -EBADMSG with *failure set: a line is
 * unterminated, too long or not a record, names another host or log, or is from the future;
 * sequence numbers have gaps (bulk) or do not increase (first), or differ from the header.
 */
int batch_read(const struct delivery *delivery, struct batch *ret_batch, struct failure *failure);
void batch_free(struct batch *batch);

/*
 * Verifies that the records from index `from` on continue the chain after record `sequence` with
 * the value `chain`. On success both are set to the last record's. Returns 0, -EBADMSG if the chain
 * is broken, -ENOMEM or -EIO.
 */
int batch_follow(const struct batch *batch, size_t from, uint64_t *sequence,
		 unsigned char chain[SHA256_SIZE], struct failure *failure);

#endif
