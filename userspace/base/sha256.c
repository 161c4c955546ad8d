/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <openssl/evp.h>

struct sha256 {
	EVP_MD_CTX *context;
};

/* Again with the same algorithm: looking it up costs more than hashing a short record. */
static int start(struct sha256 *h)
{
	return EVP_DigestInit_ex2(h->context, NULL, NULL) == 1 ? 0 : -EIO;
}

struct sha256 *sha256_new(void)
{
	_cleanup_(sha256_freep) struct sha256 *h = calloc(1, sizeof(*h));
	EVP_MD *algorithm;
	int started = 0;

	if (!h)
		return NULL;
	h->context = EVP_MD_CTX_new();
	algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
	if (h->context && algorithm)
		started = EVP_DigestInit_ex2(h->context, algorithm, NULL);
	EVP_MD_free(algorithm);
	return started == 1 ? TAKE_PTR(h) : NULL;
}

void sha256_free(struct sha256 *h)
{
	EVP_MD_CTX_free(h->context);
	free(h);
}

int sha256_update(struct sha256 *h, const void *data, size_t size)
{
	return EVP_DigestUpdate(h->context, data, size) == 1 ? 0 : -EIO;
}

int sha256_finish(struct sha256 *h, unsigned char ret_digest[SHA256_SIZE])
{
	if (EVP_DigestFinal_ex(h->context, ret_digest, NULL) != 1)
		return -EIO;
	return start(h);
}

int sha256_of(const void *data, size_t size, unsigned char ret_digest[SHA256_SIZE])
{
	return EVP_Digest(data, size, ret_digest, NULL, EVP_sha256(), NULL) == 1 ? 0 : -EIO;
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
