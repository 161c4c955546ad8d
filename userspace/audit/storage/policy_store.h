/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policies that were in force, beside the log that names them by digest:
 * DIRECTORY/policies/<digest of the tables>, gzip: a line of JSON with the rules' places and texts,
 * then the tables as the kernel ran them. The tables prove themselves by their digest, the texts do
 * not.
 */
#ifndef CORDON_AUDIT_POLICY_STORE_H
#define CORDON_AUDIT_POLICY_STORE_H

#include "base/failure.h"
#include "base/sha256.h"
#include "policy/core/compiled.h"

#define POLICY_STORE_NAME "policies"

/*
 * Puts it there unless it is there. Its limits and environment are not kept: the records have them.
 * -ENOSPC, -EROFS, ...: as the file system said; -ENOMEM.
 */
int policy_store_put(const char *directory, const struct compiled_policy *policy,
		     struct failure *failure);
/* The same in a directory that is open; `directory`: its name, for messages. */
int policy_store_put_at(int directory_fd, const char *directory,
			const struct compiled_policy *policy, struct failure *failure);

/*
 * By the digest as records write it. Only name, file, digest, tables, rules, variables and mode are
 * set.
 * -EINVAL: no digest; -ENOENT: not kept; -EBADMSG: damaged, or not what its name says.
 */
int policy_store_get(const char *directory, const char *digest, struct compiled_policy **ret_policy,
		     struct failure *failure);

/*
 * The same in two steps: the file, which the caller closes, and what it holds. -EBADMSG, -ENOMEM.
 */
int policy_store_open(const char *directory, const char *digest, int *ret_fd,
		      struct failure *failure);
int policy_store_read(int fd, const char *digest, struct compiled_policy **ret_policy);

/*
 * The digest of the one that is kept whose digest begins so. -EINVAL: fewer than 8 hexadecimal
 * digits, or no such; -ENOENT: none does; -ENOTUNIQ: several do.
 */
int policy_store_complete(const char *directory, const char *prefix,
			  char ret_digest[SHA256_TEXT_SIZE]);

#endif
