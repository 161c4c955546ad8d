/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy of one host's log, DIR/hosts/<host id>/<log id>/, in the layout that every reader of
 * logs takes: segments and current.jsonl. Segments begin where the store began them, not where the
 * host did, and stay uncompressed.
 */
#ifndef CORDON_FLEET_HOST_LOG_H
#define CORDON_FLEET_HOST_LOG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "audit/storage/segment.h"
#include "base/failure.h"
#include "fleet/store/batch.h"
#include "fleet/store/rows.h"

#define HOST_LOG_FOLDER "hosts"
/* A segment of that size is closed. */
#define HOST_LOG_SEGMENT (64ull << 20)

struct host_log {
	struct host_log *next;
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	char path[PATH_MAX];
	struct segment segment;
	struct rows_log rows;
	bool dirty;    /* has lines that are not synced */
	bool unproven; /* what its next record follows is not known */
	uint64_t used; /* when, by the number of deliveries */
};

/*
 * Creates what is missing. What a crash tore is cut off. Errors as segment_open(); -ENAMETOOLONG.
 */
int host_log_open(struct host_log *log, const char *directory, const char *host, const char *id,
		  struct failure *failure);
/* A writer that stops in order; dirty lines are not synced. */
void host_log_close(struct host_log *log);

/*
 * Appends the records from number `from` on, which batch_follow() has found to follow;
 * *ret_offset: where in the segment the first of them begins. After an error the file has as much
 * as before, or host_log_open() cuts it off.
 */
int host_log_append(struct host_log *log, const struct batch *batch, size_t from,
		    uint64_t *ret_offset, struct failure *failure);
/*
 * Behind records that are given up, another run of records begins, in a segment of its own: the
 * next one is that behind `last`. `chain`: what it follows; NULL: that is not known.
 */
int host_log_begin_run(struct host_log *log, uint64_t last, const unsigned char *chain,
		       struct failure *failure);
int host_log_sync(struct host_log *log, struct failure *failure);
/* Begins another segment if this one is large. For when all is committed. */
int host_log_rotate(struct host_log *log, struct failure *failure);

/*
 * The file of the segment that begins with seq `segment`: its own, or the one that grows; caller
 * closes it. It stays right when that one is closed meanwhile. -ENODATA: there is none; -errno of
 * opening.
 */
int host_log_open_segment(const char *path, uint64_t segment, FILE **ret_file);
/*
 * The line at an offset of such a file; caller frees *ret_line (with its newline and a NUL).
 * -ENODATA: none is there; -errno of reading.
 */
int host_log_read_at(FILE *file, uint64_t offset, char **ret_line, size_t *ret_size);
/*
 * The record `sequence` of a log that nobody else writes, and where it lies; caller frees
 * *ret_line. -ENODATA: it has none; -errno of reading.
 */
int host_log_find(const char *path, uint64_t sequence, uint64_t *ret_segment, uint64_t *ret_offset,
		  char **ret_line, size_t *ret_size);
/* host_log_open_segment() and host_log_read_at(). */
int host_log_read(const char *path, uint64_t segment, uint64_t offset, char **ret_line,
		  size_t *ret_size);

#endif
