/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a message of the stream: its host, log, queue and records, as claimed by the sender. No
 * I/O.
 */
#ifndef CORDON_FLEET_DELIVERY_H
#define CORDON_FLEET_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/failure.h"

/* Host IDs are hexadecimal digits; log IDs may also contain '-'. Both are directory names. */
#define DELIVERY_ID_SIZE 65

/* Maximum size of a message's payload, and of a record's line. */
#define DELIVERY_SIZE_MAX (4u << 20)
#define DELIVERY_LINE_MAX (1000u * 1000)

struct delivery {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	bool first_lane;      /* from the queue "first": no chain covers the lines yet */
	uint64_t first, last; /* range in the header; 0: no header */
	const char *data;     /* complete lines with newlines; not owned */
	size_t size;
	uint64_t now; /* wall clock of the store, ns */
};

bool delivery_id_is_valid(const char *id);

/*
 * Parses "cordon.log.<host>.<log>.<bulk|first>" into host, log and first_lane. Returns 0, or
 * -EINVAL for another subject; if it contains a host, this is set nevertheless.
 */
int delivery_read_subject(const char *subject, struct delivery *delivery, struct failure *failure);

/*
 * Parses "cordon.policy.<host>.<log>.<digest>" into host and log. *ret_digest points into the
 * subject and is not validated. Returns 0 or -EINVAL.
 */
int delivery_read_policy_subject(const char *subject, struct delivery *delivery,
				 const char **ret_digest, struct failure *failure);

/*
 * Compares the headers with the subject, and sets first and last. NULL: the message has no such
 * header. Returns 0, or -EBADMSG with *failure set if a header differs.
 */
int delivery_read_headers(struct delivery *delivery, const char *host, const char *log,
			  const char *sequences, struct failure *failure);

/*
 * Decompresses a gzip payload. Returns 0, -EBADMSG if it is not gzip, -EFBIG if it has more than
 * DELIVERY_SIZE_MAX bytes, or -ENOMEM.
 */
int delivery_inflate(const void *data, size_t size, struct buffer *ret_text);

/*
 * Restores the chain values of a message without them. `header`: Cordon-Chain, with the value
 * before the first record and the last value, as for unchained_parse(). Returns 0, -EBADMSG if the
 * records do not lead from the one to the other or are too large, -ENOMEM, or -EIO; sets *failure.
 */
int delivery_chain(const char *header, const char *data, size_t size, struct buffer *ret_lines,
		   struct failure *failure);

#endif
