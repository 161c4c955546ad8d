/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one segment, plain or compressed (gzip, RFC 1952). */
#ifndef CORDON_AUDIT_SEGMENT_INPUT_H
#define CORDON_AUDIT_SEGMENT_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/sha256.h"

struct segment_input;

/* -ENOENT, ...: as open(2); -EBADMSG: not a regular file; -ENOMEM. */
int segment_input_open(const char *path, bool compressed, struct segment_input **ret_input);
void segment_input_close(struct segment_input *input);
DEFINE_CLEANUP(struct segment_input *, segment_input_close, segment_input_closep)

/*
 * Reads on: the number of bytes, 0 at the end (of a plain file that grows: for now), -EBADMSG where
 * compressed data is damaged or goes on behind its end, or what read(2) said.
 */
ssize_t segment_input_read(struct segment_input *input, void *buffer, size_t size);

/* Bytes handed out so far. */
uint64_t segment_input_offset(const struct segment_input *input);
/* A plain file became shorter: goes on at its new end. */
void segment_input_rewind(struct segment_input *input, uint64_t offset);
int segment_input_stat(const struct segment_input *input, struct stat *ret_status);

/* From now on takes the digest of the compressed bytes; before the first read. -ENOMEM. */
int segment_input_hash(struct segment_input *input);
/* That digest, at the end. -ENODATA: was not asked for, or not at the end; -EIO. */
int segment_input_digest(struct segment_input *input, unsigned char ret_digest[SHA256_SIZE]);

#endif
