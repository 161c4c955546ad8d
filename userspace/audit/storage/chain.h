/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash chain over the lines of a log: each line ends in the digest of the previous line's
 * digest and of its own text, so that no line can be changed, dropped, added or moved alone.
 * After Haber and Stornetta, "How to time-stamp a digital document" (1991).
 */
#ifndef CORDON_AUDIT_CHAIN_H
#define CORDON_AUDIT_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/sha256.h"

/* What ends a line behind its body: ,"chain":"<64 digits>"} and the newline. */
#define CHAIN_TAIL_SIZE (sizeof(",\"chain\":\"\"}\n") - 1 + 2 * SHA256_SIZE)

/* The longest line; a record that would be longer is not written. */
#define CHAIN_LINE_MAX (4u << 20)

/* The digest of a line of `size` bytes of body, behind `previous`. -EIO: libcrypto refused. */
int chain_digest(struct sha256 *hash, const unsigned char previous[SHA256_SIZE], const char *body,
		 size_t size, unsigned char ret_digest[SHA256_SIZE]);

/* Writes what ends the line, newline included, no NUL. */
void chain_write_tail(const unsigned char digest[SHA256_SIZE], char tail[CHAIN_TAIL_SIZE]);

/* The seq at the head of a line, of which `size` bytes are there. -EBADMSG: none. */
int chain_sequence(const char *line, size_t size, uint64_t *ret_sequence);

/* The digest in what ends a line. -EBADMSG: it is no such end. */
int chain_read_tail(const char tail[CHAIN_TAIL_SIZE], unsigned char ret_digest[SHA256_SIZE]);

/*
 * Takes a line (without its newline) apart. *ret_body: size of what the digest covers;
 * *ret_sequence: from {"seq":N at its head. -EBADMSG: not a line of a log.
 */
int chain_split(const char *line, size_t size, size_t *ret_body, uint64_t *ret_sequence,
		unsigned char ret_digest[SHA256_SIZE]);

#endif
