/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the seals of a log. Their numbers and keys must follow each other, in any case; with
 * verification keys, each seal of theirs must be the one that only the key of its time could make,
 * and none may be missing at the end.
 */
#ifndef CORDON_AUDIT_SEAL_CHECK_H
#define CORDON_AUDIT_SEAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/seal/findings.h"
#include "audit/seal/seal.h"

/* A log whose key was replaced more often is verified in parts. */
#define SEAL_KEYS_MAX 32u

/* A verification key at hand. */
struct seal_check_key {
	struct seal_key first; /* to prove what is on disk */
	struct seal_key key;   /* of the next seal to be checked */
	bool used;	       /* a seal is of it, or names it as the next */
};

struct seal_check {
	struct findings *findings;
	const char *directory;
	struct seal_check_key keys[SEAL_KEYS_MAX];
	size_t key_count;
	struct seal_key on_disk; /* before the log was read; number 0: there was none */
	int on_disk_error;	 /* why not */
	struct seal_claim last;	 /* number 0: none was seen */
	uint64_t time;		 /* of the last one, wall clock */
	bool lost;		 /* the seals cannot be followed any further */
	/* results */
	uint64_t seals;
	uint64_t unchecked; /* those of keys that are not at hand */
	uint64_t proven;    /* good ones before the first problem */
	uint64_t sealed;    /* seq of the last of them, 0: none */
	uint64_t behind;    /* seq of the last good one behind the first problem, 0: none */
};

/* Where a seal stands. */
struct seal_place {
	const char *path;
	uint64_t line;
	uint64_t sequence;
	const char *time; /* of its record, or NULL */
	/* The chain value of the line before; NULL: not known, so that its MAC cannot be checked */
	const unsigned char *previous;
};

/*
 * Before the log is read, which may be sealed meanwhile. `directory` stays the caller's. -E2BIG:
 * too many keys; -EIO.
 */
int seal_check_begin(struct seal_check *check, struct findings *findings,
		     const unsigned char (*keys)[SEAL_KEY_SIZE], size_t key_count,
		     const char *directory);
/* A line whose record says that it is a seal. */
void seal_check_line(struct seal_check *check, const char *line, size_t size,
		     const struct seal_place *place);
void seal_check_end(struct seal_check *check);
void seal_check_release(struct seal_check *check);

#endif
