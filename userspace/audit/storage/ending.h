/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a segment: what its last record is, and what a crash left behind it. */
#ifndef CORDON_AUDIT_ENDING_H
#define CORDON_AUDIT_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"

struct ending {
	uint64_t first;	   /* seq of the segment's first record; 0: it has none */
	uint64_t sequence; /* of the last */
	unsigned char chain[SHA256_SIZE];
	uint64_t size; /* of the whole lines: behind that it is torn */
};

/*
 * Of a plain file of `size` bytes. `previous`, `previous_chain`: of the segment before, 0: there is
 * none, or it is not known. After a crash (`crashed`) a line with NUL bytes ends the log, too:
 * space that the file system allotted and never filled. -EBADMSG: the last whole line is no record
 * that follows from the one before; -ENOMEM, or what reading gave.
 */
int ending_find(int fd, uint64_t size, bool crashed, uint64_t previous,
		const unsigned char previous_chain[SHA256_SIZE], struct ending *ret_ending);

/* Of a closed segment, plain or compressed, by its last whole line. -EBADMSG: has none. */
int ending_of_closed(const char *path, bool compressed, struct ending *ret_ending);

#endif
