/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record without names, for whoever may see what was done and not of whom it speaks: paths become
 * a class and a pseudonym, every other text that is not cordon's own or an operator's a pseudonym.
 * A pseudonym is a keyed digest, so the same name is the same one wherever that key is used, and
 * nobody without the key can try names out. What is not known to be harmless is replaced.
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
 * A file of 64 hexadecimal digits, which others may not read. -EINVAL: it holds something else;
 * -EPERM: others may; or what opening and reading gave.
 */
int private_key_read(const char *path, struct private_key *ret_key, struct failure *failure);

/* One of `tenant`'s own, made of another. -EIO: libcrypto refused. */
int private_key_of_tenant(const struct private_key *key, const char *tenant,
			  struct private_key *ret_key);

/* The pseudonym of a name. -EIO. */
int private_name(const struct private_key *key, const char *name, char ret_name[PRIVATE_NAME_SIZE]);

/*
 * What paths of an execution are classed by, of its start record: what the policy's variables stand
 * for, by name. A new reference; NULL: the record says nothing of that, or there is no memory.
 */
json_t *private_places(const json_t *start);

/*
 * Changes the record, which nobody else may hold. `places`: as above, or NULL. The chain goes, too,
 * for with it guesses could be confirmed. -ENOMEM, -EIO: the record is of no use then.
 */
int private_record(const struct private_key *key, const json_t *places, json_t *record);

#endif
