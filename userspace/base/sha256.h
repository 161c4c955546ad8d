/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) with libcrypto. */
#ifndef CORDON_BASE_SHA256_H
#define CORDON_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define SHA256_SIZE	 32
#define SHA256_TEXT_SIZE 65

struct sha256;

/* Returns NULL if out of memory. */
struct sha256 *sha256_new(void);
void sha256_free(struct sha256 *h);
DEFINE_CLEANUP(struct sha256 *, sha256_free, sha256_freep)

/* Returns 0, or -EIO if libcrypto fails. */
int sha256_update(struct sha256 *h, const void *data, size_t size);

/* Returns the digest and resets `h`. Returns 0, or -EIO if libcrypto fails. */
int sha256_finish(struct sha256 *h, unsigned char ret_digest[SHA256_SIZE]);

/* Hashes one buffer. Returns 0, -EIO or -ENOMEM. */
int sha256_of(const void *data, size_t size, unsigned char ret_digest[SHA256_SIZE]);

/* Hashes a file from its start without changing its offset. *ret_size: bytes hashed. */
int sha256_of_file(int fd, unsigned char ret_digest[SHA256_SIZE], uint64_t *ret_size);

#endif
