/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the low-level functions. EVP first finds a provider and reads a configuration file, which
 * costs more than hashing small data. It also links most of libcrypto into programs that only hash.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

struct sha256 {
	SHA256_CTX context;
};

struct sha256 *sha256_new(void)
{
	_cleanup_(sha256_freep) struct sha256 *h = calloc(1, sizeof(*h));

	return h && SHA256_Init(&h->context) == 1 ? TAKE_PTR(h) : NULL;
}

void sha256_free(struct sha256 *h)
{
	free(h);
}

int sha256_update(struct sha256 *h, const void *data, size_t size)
{
	return SHA256_Update(&h->context, data, size) == 1 ? 0 : -EIO;
}

int sha256_finish(struct sha256 *h, unsigned char ret_digest[SHA256_SIZE])
{
	if (SHA256_Final(ret_digest, &h->context) != 1)
		return -EIO;
	return SHA256_Init(&h->context) == 1 ? 0 : -EIO;
}

/* Not SHA256(), which uses EVP. */
int sha256_of(const void *data, size_t size, unsigned char ret_digest[SHA256_SIZE])
{
	struct sha256 h;

	if (SHA256_Init(&h.context) != 1 || SHA256_Update(&h.context, data, size) != 1 ||
	    SHA256_Final(ret_digest, &h.context) != 1)
		return -EIO;
	return 0;
}

int sha256_of_file(int fd, unsigned char ret_digest[SHA256_SIZE], uint64_t *ret_size)
{
	_cleanup_(sha256_freep) struct sha256 *h = sha256_new();
	char buffer[16384];
	uint64_t offset = 0;
	int r;

	if (!h)
		return -ENOMEM;
	for (;;) {
		ssize_t n = pread(fd, buffer, sizeof(buffer), (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		r = sha256_update(h, buffer, (size_t)n);
		if (r < 0)
			return r;
		offset += (uint64_t)n;
	}
	r = sha256_finish(h, ret_digest);
	if (r < 0)
		return r;
	*ret_size = offset;
	return 0;
}
