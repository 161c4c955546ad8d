/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward-secure seals. Each seal is a record of the log whose MAC covers all that came before it.
 * Its key is used once: the next key is a hash of it, and then it is erased. Whoever takes the host
 * finds the key of the next seal, but none of those before, and so cannot write sealed records
 * anew. The verification key, from which the first key was made, was shown once, and is on the host
 * no more.
 *
 * After Ma and Tsudik, "A New Approach to Secure Logging" (2008), and Marson and Poettering,
 * "Practical Secure Logging: Seekable Sequential Key Generators" (2013), as systemd-journald has
 * it.
 *
 * DIRECTORY/seal.key, mode 0600, holds the key of the next seal: in two places in turn, so that a
 * crash leaves one that is whole; the other is overwritten with zeros.
 *
 * A verification key that became known, or was lost, is replaced: DIRECTORY/seal.next holds the
 * first key of another one. The last seal of the old key names it, so that nobody can begin anew
 * without the key at hand.
 */
#ifndef CORDON_AUDIT_SEAL_H
#define CORDON_AUDIT_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/sha256.h"

#define SEAL_FILE	  "seal.key"
#define SEAL_NEXT	  "seal.next"
#define SEAL_DRAFT	  "seal.draft" /* until it is whole */
#define SEAL_KEY_SIZE	  32
#define SEAL_ID_SIZE	  8
#define SEAL_ID_TEXT_SIZE (2 * SEAL_ID_SIZE + 1)

/* The key of one seal, and what all of one verification key have in common. */
struct seal_key {
	uint64_t number; /* of the seal that it is for, from 1 */
	unsigned char id[SEAL_ID_SIZE];
	unsigned char key[SEAL_KEY_SIZE];
};

/* The first, from the verification key. -EIO: libcrypto refused. */
int seal_key_first(const unsigned char verification[SEAL_KEY_SIZE], struct seal_key *ret_key);
/* Becomes the next; the old one is gone. -EIO. */
int seal_key_advance(struct seal_key *key);
void seal_key_erase(struct seal_key *key);

/*
 * Over the chain value of the line before, and of the seal's own line what comes before its MAC.
 * -EIO.
 */
int seal_mac(const struct seal_key *key, const unsigned char previous[SHA256_SIZE],
	     const char *line, size_t size, unsigned char ret_mac[SHA256_SIZE]);

/* The file, open by the one process that seals. */
struct seal_file {
	int fd;
	unsigned int place; /* of the key at hand */
	struct seal_key key;
};

#define SEAL_FILE_INIT {.fd = -1}

/* Begins sealing: writes the first key. -EEXIST: there is one already. */
int seal_file_create(int directory_fd, const struct seal_key *key, struct seal_file *ret_file);
/* -ENOENT: nothing is sealed here; -EBADMSG: no place holds a key. */
int seal_file_open(int directory_fd, struct seal_file *ret_file);
/* Only looks. */
int seal_file_read(int directory_fd, struct seal_key *ret_key);
/* To the key of the next seal. What is on disk afterwards is that key alone. */
int seal_file_advance(struct seal_file *file);
void seal_file_close(struct seal_file *file);

/*
 * The first key of another verification key, as SEAL_DRAFT, in place of a draft that was left
 * there.
 */
int seal_next_draft(int directory_fd, const struct seal_key *key, struct seal_file *ret_file);
/* The draft is for the writer to take up. -EEXIST: another one is waiting. */
int seal_next_offer(int directory_fd);
/* -ENOENT: there is none; -EBADMSG: it holds no key. */
int seal_next_open(int directory_fd, struct seal_file *ret_file);
/*
 * `file` has the key of `next` then, and that alone; `next` is erased, removed and closed. May be
 * repeated after a failure.
 */
int seal_next_take(int directory_fd, struct seal_file *file, struct seal_file *next);

/* A key as people keep it: 64 digits in groups of eight. */
#define SEAL_TEXT_SIZE (2 * SEAL_KEY_SIZE + 8)
void seal_format(const unsigned char verification[SEAL_KEY_SIZE], char text[SEAL_TEXT_SIZE]);
/* -EINVAL: no such text. Space around it is skipped. */
int seal_parse(const char *text, unsigned char ret_verification[SEAL_KEY_SIZE]);

/* What a seal's line says, for those who check it. */
struct seal_claim {
	uint64_t number;
	unsigned char id[SEAL_ID_SIZE];
	uint64_t boot_nsec;
	bool last; /* of its key: the next seal is the first of the key `next` */
	unsigned char next[SEAL_ID_SIZE];
	size_t covered; /* how much of the line its MAC covers */
	unsigned char mac[SHA256_SIZE];
};

/* What begins the members of a seal's record behind its time. */
#define SEAL_EVENT "\"event\":{\"kind\":\"event\",\"action\":\"seal\",\"outcome\":\"success\"}"

/*
 * The record's text up to and without its MAC; then seal_claim_end(). Returns the length. `next`:
 * the id of the key that comes then, where this is the last seal of `key`; else NULL.
 */
#define SEAL_RECORD_SIZE 512
size_t seal_claim_format(const char *time, const struct seal_key *key, const unsigned char *next,
			 uint64_t boot_nsec, char text[SEAL_RECORD_SIZE]);
size_t seal_claim_end(const unsigned char mac[SHA256_SIZE], char *text);
/* -EBADMSG: not the line of a seal, exactly as the two above write it. */
int seal_claim_parse(const char *line, size_t size, struct seal_claim *ret_claim);

#endif
