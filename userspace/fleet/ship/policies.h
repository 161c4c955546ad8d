/* SPDX-License-Identifier: Apache-2.0 */
/* Finds policies that the daemon has stored beside the log and that are not shipped yet. */
#ifndef CORDON_FLEET_POLICIES_H
#define CORDON_FLEET_POLICIES_H

#include <stddef.h>

#include "base/sha256.h"

struct policies_shipped {
	char (*digests)[SHA256_TEXT_SIZE]; /* sorted */
	size_t count;
};

/*
 * Reads the next stored policy that is not in `shipped`. The caller frees *ret_data. Returns 0,
 * -ENOENT if there is none, -ENOMEM, or the -ERRNO of reading.
 */
int policies_next(const char *directory, const struct policies_shipped *shipped,
		  char ret_digest[SHA256_TEXT_SIZE], char **ret_data, size_t *ret_size);

/* Returns 0 or -ENOMEM. */
int policies_add(struct policies_shipped *shipped, const char *digest);
void policies_release(struct policies_shipped *shipped);

#endif
