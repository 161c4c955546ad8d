/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: lines of one log that are sent to the fleet's store as one message, byte for byte. There
 * are two queues: "bulk" has all lines in order, "first" repeats the urgent ones before a backlog.
 */
#ifndef CORDON_FLEET_BATCH_H
#define CORDON_FLEET_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record/identity.h"
#include "audit/text/buffer.h"
#include "base/sha256.h"
#include "base/uuid.h"

#define BATCH_BYTES_MAX	  (512u << 10) /* bytes of lines; a longer line gets its own batch */
#define BATCH_RECORDS_MAX 5000u

enum batch_lane {
	BATCH_BULK,
	BATCH_FIRST,
};

struct batch {
	enum batch_lane lane;
	char host[IDENTITY_HOST_SIZE];
	char log[UUID_TEXT_SIZE];
	uint64_t first, last; /* seq; first is 0 if the batch is empty */
	size_t records;
	struct buffer lines; /* each with its newline */
	bool urgent;	     /* contains a denial, a DAC denial ("attempt") or a gap */
	/* `before` is the chain value of the record before the first one; valid if `follows`. */
	bool follows;
	unsigned char before[SHA256_SIZE];
};

#define BATCH_SUBJECT_SIZE 160u
#define BATCH_ID_SIZE	   SHA256_TEXT_SIZE
#define BATCH_RANGE_SIZE   48u

void batch_clear(struct batch *batch);
void batch_release(struct batch *batch);

/* True if a line of `size` bytes (newline excluded) does not fit. An empty batch takes any line. */
bool batch_is_full(const struct batch *batch, size_t size);

/* Appends the line with the number `sequence`. Returns 0 or -ENOMEM. */
int batch_add(struct batch *batch, uint64_t sequence, const char *line, size_t size);

/* Formats the subject cordon.log.HOST.LOG.LANE. */
void batch_subject(const struct batch *batch, char subject[BATCH_SUBJECT_SIZE]);
/*
 * Computes the message ID from which the stream detects duplicates: HMAC-SHA256 of
 * LANE:LOG:FIRST-LAST:NONCE under the shipper's secret. The secret prevents that another client
 * uses the ID first, because the stream drops any message with a known ID. `nonce`: distinguishes
 * messages of the queue "first" between runs of the shipper, or NULL.
 *
 * Returns 0, or -EIO if libcrypto fails.
 */
int batch_id(const struct batch *batch, const unsigned char secret[SHA256_SIZE], const char *nonce,
	     char id[BATCH_ID_SIZE]);
/* Formats FIRST-LAST. */
void batch_range(const struct batch *batch, char range[BATCH_RANGE_SIZE]);

/*
 * True if the line (newline excluded) also belongs to the queue "first": a denial, DAC denial, end
 * of an execution, gap, seal, identity or heartbeat.
 */
bool batch_line_goes_first(const char *line, size_t size);

/* Compresses a text with gzip. Returns 0, -ENOMEM, or -EIO if zlib fails. */
int batch_compress(const struct buffer *text, struct buffer *ret);

#endif
