/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a log as a file: an SQLite database with the stretches ("blocks") of each segment
 * and, per field and value, where in them it stands. It has nothing that the log has not.
 */
#ifndef CORDON_AUDIT_INDEX_FILE_H
#define CORDON_AUDIT_INDEX_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/search/postings.h"
#include "base/cleanup.h"
#include "base/failure.h"
#include "base/sha256.h"

#define INDEX_NAME    "index.sqlite"
#define INDEX_VERSION 2

struct index_file;

enum index_mode {
	INDEX_READ,
	INDEX_WRITE,  /* in transactions that survive a crash */
	INDEX_CREATE, /* a new file that is thrown away if it is not finished */
};

/*
 * -ENOENT: there is none; -EBADMSG: damaged, or of another version; -EACCES, -EROFS, -EBUSY,
 * -ENOSPC, -EIO, -ENOMEM. All functions give these.
 */
int index_file_open(const char *path, enum index_mode mode, struct index_file **ret_file,
		    struct failure *failure);
void index_file_close(struct index_file *file);
DEFINE_CLEANUP(struct index_file *, index_file_close, index_file_closep)

/* Why the last call failed, in SQLite's words. */
const char *index_file_error(const struct index_file *file);

int index_file_begin(struct index_file *file);
int index_file_commit(struct index_file *file);

struct index_segment {
	int64_t id;
	unsigned char identity[SHA256_SIZE]; /* digest of its first line, whatever its name */
	uint64_t indexed;		     /* bytes */
	uint64_t last;			     /* where the last line begins that is in the index */
	unsigned char last_digest[SHA256_SIZE];
	uint64_t records;
	uint64_t stamp; /* audit_archive_stamp() once it is compressed, or 0 */
};

/* By segment->stamp if it is not 0, else by segment->identity. -ENOENT: not in the index. */
int index_file_find_segment(struct index_file *file, struct index_segment *segment);
/* Adds it if segment->id is 0. */
int index_file_put_segment(struct index_file *file, struct index_segment *segment);

#define INDEX_TIME_SIZE 40

struct index_block {
	int64_t id; /* from 1, without holes */
	int64_t segment;
	uint64_t start;
	uint32_t size;
	uint32_t records;
	char since[INDEX_TIME_SIZE],
		until[INDEX_TIME_SIZE]; /* of its records; "" if none has a time */
};

int index_file_add_block(struct index_file *file, struct index_block *block);
int index_file_add_posting(struct index_file *file, int64_t block, const struct posting *posting);

/* All of them by id. Caller frees. */
int index_file_blocks(struct index_file *file, struct index_block **ret_blocks, size_t *ret_count);

/*
 * Values of a field that begin with `prefix` (`whole`: that are it), each block by block. The
 * visitor stops the walk with a negative result. -EBADMSG: damaged.
 */
int index_file_walk(struct index_file *file, enum skim_field field, const char *prefix, bool whole,
		    int (*visit)(void *data, int64_t block, const struct posting *posting),
		    void *data);

/* Looks at all of it: -EBADMSG if anything is not as it was written. */
int index_file_check(struct index_file *file);

#endif
