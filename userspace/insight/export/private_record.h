/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces names in a record, for readers who may see actions but not names. Paths become a class
 * and a pseudonym; all other strings become pseudonyms, except constants of cordon and names chosen
 * by operators. A pseudonym is a keyed digest: with the same key, equal names have equal
 * pseudonyms, and without the key guesses cannot be tested. Invariant: a field that is not listed
 * as harmless is replaced.
 */
#ifndef CORDON_INSIGHT_PRIVATE_RECORD_H
#define CORDON_INSIGHT_PRIVATE_RECORD_H

#include <jansson.h>

#include "base/failure.h"

#define PRIVATE_KEY_SIZE  32u
#define PRIVATE_NAME_SIZE 18u /* '~', 16 digits and a NUL */

struct private_key {
	unsigned char key[PRIVATE_KEY_SIZE];
};

/*
 * Reads a file with 64 hexadecimal digits that other users cannot read. Returns 0, -EINVAL for
 * other contents, -EPERM if others can read it, or the -ERRNO of opening and reading.
 */
int private_key_read(const char *path, struct private_key *ret_key, struct failure *failure);

/* Derives the key of `tenant` from another key. Returns 0, or -EIO if libcrypto fails. */
int private_key_of_tenant(const struct private_key *key, const char *tenant,
			  struct private_key *ret_key);

/* Returns the pseudonym of a name. Returns 0 or -EIO. */
int private_name(const struct private_key *key, const char *name, char ret_name[PRIVATE_NAME_SIZE]);

/*
 * Returns the directories of an execution for classifying paths, from its start record: the
 * policy's variables and their values. A new reference; NULL if the record lacks them, or if out of
 * memory.
 */
json_t *private_places(const json_t *start);

/*
 * Replaces names in the record, which must have no other references. `places`: from
 * private_places(), or NULL. Removes the chain value, because it could confirm guesses. Returns 0,
 * or -ENOMEM or -EIO; the record is then unusable.
 */
int private_record(const struct private_key *key, const json_t *places, json_t *record);

#endif
