/* SPDX-License-Identifier: Apache-2.0 */
/* The policies that were in force, which lie beside the log, and which of them are shipped. */
#ifndef CORDON_FLEET_POLICIES_H
#define CORDON_FLEET_POLICIES_H

#include <stddef.h>

#include "base/sha256.h"

struct policies_shipped {
	char (*digests)[SHA256_TEXT_SIZE]; /* in order */
	size_t count;
};

/*
 * The next one in the log's directory that is not among these; caller frees *ret_data. -ENOENT:
 * there is none; -errno of reading, of -ENOMEM.
 */
int policies_next(const char *directory, const struct policies_shipped *shipped,
		  char ret_digest[SHA256_TEXT_SIZE], char **ret_data, size_t *ret_size);

/* -ENOMEM */
int policies_add(struct policies_shipped *shipped, const char *digest);
void policies_release(struct policies_shipped *shipped);

#endif
