/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of one log on their way to the fleet's store, as they stand in it: one message. Two lanes:
 * all lines in order, and ahead of a backlog those that somebody waits for.
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

#define BATCH_BYTES_MAX	  (512u << 10) /* of lines; one that is longer goes alone */
#define BATCH_RECORDS_MAX 5000u

enum batch_lane {
	BATCH_BULK,
	BATCH_FIRST,
};

struct batch {
	enum batch_lane lane;
	char host[IDENTITY_HOST_SIZE];
	char log[UUID_TEXT_SIZE];
	uint64_t first, last; /* seq; first 0: it is empty */
	size_t records;
	struct buffer lines; /* each with its newline */
	bool urgent;	     /* one of them is a denial, an attempt or a gap */
	/* The chain value of the record before the first, where it is known. */
	bool follows;
	unsigned char before[SHA256_SIZE];
};

#define BATCH_SUBJECT_SIZE 160u
#define BATCH_ID_SIZE	   SHA256_TEXT_SIZE
#define BATCH_RANGE_SIZE   48u

void batch_clear(struct batch *batch);
void batch_release(struct batch *batch);

/* Has it no room for a line of `size` bytes, without its newline? An empty one has room for any. */
bool batch_is_full(const struct batch *batch, size_t size);

/* The line's number is `sequence`, behind those that are there. -ENOMEM. */
int batch_add(struct batch *batch, uint64_t sequence, const char *line, size_t size);

/* cordon.log.HOST.LOG.LANE */
void batch_subject(const struct batch *batch, char subject[BATCH_SUBJECT_SIZE]);
/*
 * By which the stream knows it again: HMAC-SHA256 of LANE:LOG:FIRST-LAST under the shipper's
 * secret, since the stream drops what has an id that any host has used. `nonce`: what tells the
 * first lane's messages of one run of the shipper from another's; NULL: none. -EIO: libcrypto
 * refused.
 */
int batch_id(const struct batch *batch, const unsigned char secret[SHA256_SIZE], const char *nonce,
	     char id[BATCH_ID_SIZE]);
/* FIRST-LAST */
void batch_range(const struct batch *batch, char range[BATCH_RANGE_SIZE]);

/*
 * Is this line, without its newline, one that goes ahead: a denial, an attempt, an end, a gap,
 * a seal, an identity or a heartbeat?
 */
bool batch_line_goes_first(const char *line, size_t size);

/* A text as gzip. -ENOMEM; -EIO: zlib refused. */
int batch_compress(const struct buffer *text, struct buffer *ret);

#endif
