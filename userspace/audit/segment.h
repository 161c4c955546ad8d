/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a log grows in: DIRECTORY/current.jsonl, and DIRECTORY/lock, which says by an
 * open file description lock that somebody writes.
 */
#ifndef CORDON_AUDIT_SEGMENT_H
#define CORDON_AUDIT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/sha256.h"

#define SEGMENT_NAME "current.jsonl"
#define SEGMENT_LOCK "lock"

struct segment {
	int fd; /* for appending */
	int lock_fd;
	/* of the last record in it; 0 and zeros: none */
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
	uint64_t repaired; /* bytes of a torn last line that were cut off */
};

/*
 * Opens, locks, repairs; creates what is missing, the directory too, but not its parents.
 * Errors as audit_log_open().
 */
int segment_open(const char *directory, struct segment *ret_segment, struct failure *failure);
void segment_close(struct segment *segment);

/* Is it still what DIRECTORY/current.jsonl names? */
bool segment_is_current(const struct segment *segment, const char *directory);

/* Does somebody hold the lock of this log? Takes nothing, so that no writer is disturbed. */
bool segment_has_writer(const char *directory);

#endif
