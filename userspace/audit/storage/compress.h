/* SPDX-License-Identifier: Apache-2.0 */
/* Compressing a closed segment, in a thread of its own, so that its log goes on meanwhile. */
#ifndef CORDON_AUDIT_COMPRESS_H
#define CORDON_AUDIT_COMPRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"

/* Until the log has on record what is in it. */
#define COMPRESS_NAME "compress.tmp"

struct compress {
	uint64_t first; /* of the segment, 0: none is at work */
	/* once it is done */
	int error;
	uint64_t bytes; /* of the file COMPRESS_NAME */
	unsigned char digest[SHA256_SIZE];
	/* its own */
	struct compress_job *job;
};

/*
 * Compresses NNN.jsonl of the directory to COMPRESS_NAME, and syncs that. -EAGAIN: no thread to be
 * had; -ENOMEM.
 */
int compress_start(struct compress *compress, int directory_fd, uint64_t first);
/* Is what was started done? If so, its results are there, and another can be started. */
bool compress_finish(struct compress *compress);
/* Waits for it. */
void compress_wait(struct compress *compress);

#endif
