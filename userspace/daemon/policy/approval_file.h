/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One policy that waits for approval or was decided about, and its file: DIRECTORY/approvals/IDENTITY.json,
 * with its tables in the policy store beside it.
 */
#ifndef CORDON_DAEMON_APPROVAL_FILE_H
#define CORDON_DAEMON_APPROVAL_FILE_H

#include <jansson.h>
#include <stdint.h>

#include "base/failure.h"
#include "base/sha256.h"
#include "policy/core/compiled.h"

enum approval_state {
	APPROVAL_WAITING,
	APPROVAL_APPROVED,
	APPROVAL_REFUSED,
	APPROVAL_REVOKED,
	APPROVAL_EXPIRED,
	APPROVAL_STATE_COUNT,
};

struct approval_entry {
	unsigned char identity[SHA256_SIZE];
	enum approval_state state;
	char *name, *file;
	char *use; /* what uses it, as far as that is approved along with it; NULL: anybody */
	char digest[SHA256_TEXT_SIZE]; /* of its tables */
	char **witnesses; /* what it allows beyond the base; NULL-terminated, or NULL */
	bool listed;	  /* `witnesses` are all rules and settings, and not examples alone */
	bool have_base;
	unsigned char base[SHA256_SIZE];
	uint64_t asked, decided, expires; /* wall clock; 0: not, never */
	uint32_t asked_by, decided_by;
	char *reason;
	json_t *settings; /* what the policy store does not keep */
	struct compiled_policy *policy;
	bool compared; /* it waits, and allows more than each that is approved now */
};

/* What exactly is approved: the policy, and what uses it, which may be NULL. -ENOMEM. */
int approval_identity(const struct compiled_policy *policy, const char *use,
		      unsigned char ret_identity[SHA256_SIZE]);

/* One that waits. NULL without memory. */
struct approval_entry *approval_entry_new(const struct compiled_policy *policy, const char *use,
					  const unsigned char identity[SHA256_SIZE]);
void approval_entry_free(struct approval_entry *entry);

/* For lists. New reference or NULL. */
json_t *approval_entry_json(const struct approval_entry *entry);

/*
 * Why it may not be used now, and who may change that: -EPERM, with the long form in *ret_message, which the
 * caller frees; -ENOMEM.
 */
int approval_entry_refuse(const struct approval_entry *entry, char **ret_message,
			  struct failure *failure);

/* From the store in `directory`, to compare with: -EBADMSG where it is not what the file says; -errno. */
int approval_entry_load_policy(const char *directory, struct approval_entry *entry,
			       struct failure *failure);

/* Makes both directories where they are not, for root alone. -EPERM: somebody else may write there. */
int approval_directory_open(const char *parent, const char *path, int *ret_fd);

int approval_file_save(int dir_fd, const struct approval_entry *entry);
void approval_file_remove(int dir_fd, const struct approval_entry *entry);

/* -EBADMSG: not one. */
int approval_file_load(int dir_fd, const char *name, struct approval_entry **ret_entry);
int approval_file_each(int dir_fd, int (*visit)(const char *name, void *context), void *context);

#endif
