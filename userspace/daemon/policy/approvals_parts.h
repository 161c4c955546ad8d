/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the approvals share: approvals.c, comparison.c and proposals.c; nobody else includes it. */
#ifndef CORDON_DAEMON_APPROVALS_PARTS_H
#define CORDON_DAEMON_APPROVALS_PARTS_H

#include <string.h>

#include "daemon/policy/approval_file.h"
#include "daemon/policy/approvals.h"
#include "daemon/policy/comparison.h"

/* Comparisons that are kept: that something allows no more than what is approved, and what is to be asked for next. */
#define COMPARISONS_MAX 64

struct approvals {
	int fd; /* of the directory */
	char *path;
	struct approval_entry **entries;
	size_t count;
	struct comparison comparisons[COMPARISONS_MAX];
	size_t comparison_next;
	uint64_t generation; /* of what is approved: comparisons with an earlier one say nothing */
};

/* What is asked for, by whom and when, and where an expiry that is found on the way is recorded. */
struct question {
	const struct compiled_policy *policy;
	const char *use;
	unsigned char identity[SHA256_SIZE];
	uint32_t uid;
	uint64_t now;
	approvals_recorder record;
	void *context;
};

struct approval_entry *approvals_find(const struct approvals *approvals,
				      const unsigned char identity[SHA256_SIZE]);

/* Approved, and still so. One whose time is up is so from here on, and on record. */
bool approvals_is_approved(struct approvals *approvals, struct approval_entry *entry,
			   const struct question *question);

/* Has it wait, and takes over what it was found to allow besides. -ENOSPC, -ENOMEM, -errno of the store. */
int approvals_keep(struct approvals *approvals, const struct question *question,
		   struct comparison *with, struct approval_entry **ret_entry,
		   struct failure *failure);

/* Entry number i is gone. */
void approvals_forget(struct approvals *approvals, size_t i);

/* Removes the text of a proposal, unless an entry but this one is about it. */
void approvals_remove_text(const struct approvals *approvals, const char *file,
			   const struct approval_entry *but);

static inline bool approvals_same_use(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
