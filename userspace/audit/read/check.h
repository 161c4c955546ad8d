/* SPDX-License-Identifier: Apache-2.0 */
/* Checks line after line that each follows from the one before it. */
#ifndef CORDON_AUDIT_CHECK_H
#define CORDON_AUDIT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/read/lines.h"
#include "base/failure.h"
#include "base/sha256.h"

struct check {
	struct sha256 *hash;
	bool begun;
	bool anchored;	/* the line before is known, so that the next one's chain can be checked */
	uint64_t first; /* seq of the first line, once begun */
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
};

/* -ENOMEM. */
int check_init(struct check *check);
void check_release(struct check *check);

/* The next line is to follow from this one. */
void check_anchor(struct check *check, uint64_t sequence, const unsigned char chain[SHA256_SIZE]);

/*
 * The line that `lines` handed out last. A log whose first segments were deleted begins with any
 * seq: that is for the caller to judge. -EBADMSG: no record, or it breaks the chain; -EIO:
 * libcrypto refused.
 */
int check_line(struct check *check, struct lines *lines, const char *line, size_t size,
	       struct failure *failure);

#endif
