/* SPDX-License-Identifier: Apache-2.0 */
/* What a message of the stream claims to bring: whose log, by which lane, which records. Pure. */
#ifndef CORDON_FLEET_DELIVERY_H
#define CORDON_FLEET_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/text/buffer.h"
#include "base/failure.h"

/* Host ids are hexadecimal digits, log ids those and '-': both are names of directories. */
#define DELIVERY_ID_SIZE 65

/* A message's payload may be so large, and a record's line so long. */
#define DELIVERY_SIZE_MAX (4u << 20)
#define DELIVERY_LINE_MAX (1000u * 1000)

struct delivery {
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	bool first_lane;      /* chosen lines ahead of the rest, which no chain covers yet */
	uint64_t first, last; /* seqs as the header says, 0: it does not */
	const char *data;     /* borrowed: whole lines, each with its newline */
	size_t size;
	uint64_t now; /* wall clock of the store, ns */
};

bool delivery_id_is_valid(const char *id);

/*
 * "cordon.log.<host>.<log>.<bulk|first>". Sets host, log, lane and nothing else. -EINVAL: it is not
 * that; the host is set where it says one.
 */
int delivery_read_subject(const char *subject, struct delivery *delivery, struct failure *failure);

/*
 * "cordon.policy.<host>.<log>.<digest>". Sets host and log; *ret_digest: into the subject,
 * unchecked. -EINVAL.
 */
int delivery_read_policy_subject(const char *subject, struct delivery *delivery,
				 const char **ret_digest, struct failure *failure);

/*
 * Do the headers say what the subject says? NULL: there is none, and nothing is held against it.
 * Sets first and last. -EBADMSG: no, and *failure says which.
 */
int delivery_read_headers(struct delivery *delivery, const char *host, const char *log,
			  const char *sequences, struct failure *failure);

/*
 * Decompresses a payload of gzip. -EBADMSG: it is none; -EFBIG: more than DELIVERY_SIZE_MAX;
 * -ENOMEM.
 */
int delivery_inflate(const void *data, size_t size, struct buffer *ret_text);

/*
 * The lines of a message that left their chain values out: its header Cordon-Chain has the one
 * before and the last, as unchained_parse() takes them. -EBADMSG: they do not lead from the one to
 * the other, or are too many; -ENOMEM, -EIO. *failure says what.
 */
int delivery_chain(const char *header, const char *data, size_t size, struct buffer *ret_lines,
		   struct failure *failure);

#endif
