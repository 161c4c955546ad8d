/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that a log grows in: DIRECTORY/current.jsonl, and DIRECTORY/lock, which says by an open
 * file description lock that somebody writes, and by its content whether the last writer stopped in
 * order. A segment that is large or old enough is closed: it gets the name that segments.h
 * describes.
 */
#ifndef CORDON_AUDIT_SEGMENT_H
#define CORDON_AUDIT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/sha256.h"

#define SEGMENT_NAME "current.jsonl"
#define SEGMENT_NEXT "next.jsonl" /* while one is closed and the next begins */
#define SEGMENT_LOCK "lock"

struct segment {
	int directory_fd;
	int fd; /* for appending */
	int lock_fd;
	uint64_t first; /* seq of its first record, 0: it has none */
	uint64_t size;
	/* of the last record in the log; 0 and zeros: none */
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
	uint64_t repaired; /* bytes of a torn end that were cut off */
	bool crashed;	   /* the last writer did not stop in order */
};

#define SEGMENT_INIT {.directory_fd = -1, .fd = -1, .lock_fd = -1}

/*
 * Opens, locks, repairs; creates what is missing, the directory too, but not its parents.
 * `shown`: the directory's name in messages; NULL: as it is. Errors as audit_log_open().
 */
int segment_open(const char *directory, const char *shown, struct segment *ret_segment,
		 struct failure *failure);
/* The same of a copy, which may lack records between two segments. */
int segment_open_copy(const char *directory, struct segment *ret_segment, struct failure *failure);
/* A log's directory, which is made if it is not there. Returns a descriptor for reading. */
int segment_open_directory(const char *directory, struct failure *failure);
/* What it holds is on disk: the next writer finds that this one stopped in order. */
int segment_stop(struct segment *segment);
void segment_close(struct segment *segment);

/*
 * Closes the segment, which has records, and begins the next. Where it fails, the segment goes on,
 * or segment_is_current() says no.
 */
int segment_rotate(struct segment *segment);

/* Is it still what DIRECTORY/current.jsonl names? */
bool segment_is_current(const struct segment *segment, const char *directory);

/* Does somebody hold the lock of this log? Takes nothing, so that no writer is disturbed. */
bool segment_has_writer(const char *directory);

/*
 * Does the lock of this log say that its last writer stopped in order? Also where there is none
 * that can be read.
 */
bool segment_was_stopped(const char *directory);

#endif
