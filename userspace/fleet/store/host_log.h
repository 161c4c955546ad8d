/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy of one host's log in DIR/hosts/<host id>/<log id>/, in the layout of every log: segments
 * and current.jsonl. The store chooses where segments begin, independently of the host, and does
 * not compress them.
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
/* A segment of this size is closed. */
#define HOST_LOG_SEGMENT (64ull << 20)

struct host_log {
	struct host_log *next;
	char host[DELIVERY_ID_SIZE], log[DELIVERY_ID_SIZE];
	char path[PATH_MAX];
	struct segment segment;
	struct rows_log rows;
	bool dirty;    /* has unsynced lines */
	bool unproven; /* the chain value before its next record is unknown */
	uint64_t used; /* number of the last delivery that used it */
};

/*
 * Opens or creates the copy, and truncates a record that a crash left incomplete. Errors as for
 * segment_open(), and -ENAMETOOLONG.
 */
int host_log_open(struct host_log *log, const char *directory, const char *host, const char *id,
		  struct failure *failure);
/* Closes the copy and marks it as regularly closed. Does not sync dirty lines. */
void host_log_close(struct host_log *log);

/*
 * Appends the records from index `from` on, which batch_follow() has verified. *ret_offset: offset
 * of the first one in the segment. After an error the file is restored, or host_log_open()
 * truncates it.
 */
int host_log_append(struct host_log *log, const struct batch *batch, size_t from,
		    uint64_t *ret_offset, struct failure *failure);
/*
 * Begins a new run of records after records that are given up, in a new segment. The next record is
 * `last` + 1. `chain`: the chain value before it; NULL: unknown.
 */
int host_log_begin_run(struct host_log *log, uint64_t last, const unsigned char *chain,
		       struct failure *failure);
int host_log_sync(struct host_log *log, struct failure *failure);
/* Begins a new segment if this one is large. Call it after a commit. */
int host_log_rotate(struct host_log *log, struct failure *failure);

/*
 * Opens the segment that begins with the number `segment`, also if it is still being written. The
 * file remains valid if the segment is closed meanwhile. The caller closes it. Returns 0, -ENODATA
 * if there is none, or the -ERRNO of opening.
 */
int host_log_open_segment(const char *path, uint64_t segment, FILE **ret_file);
/*
 * Reads the line at an offset of such a file. The caller frees *ret_line, which has its newline and
 * a NUL. Returns 0, -ENODATA if there is none, or the -ERRNO of reading.
 */
int host_log_read_at(FILE *file, uint64_t offset, char **ret_line, size_t *ret_size);
/*
 * Finds a record of a log that is not written meanwhile. The caller frees *ret_line. Returns 0,
 * -ENODATA if the log lacks it, or the -ERRNO of reading.
 */
int host_log_find(const char *path, uint64_t sequence, uint64_t *ret_segment, uint64_t *ret_offset,
		  char **ret_line, size_t *ret_size);
/* Combines host_log_open_segment() and host_log_read_at(). */
int host_log_read(const char *path, uint64_t segment, uint64_t offset, char **ret_line,
		  size_t *ret_size);

#endif
