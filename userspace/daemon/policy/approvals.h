/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which policies may be used, where a person has to say so: those that were approved, and whatever
 * allows no more than one of the same name that was. Others wait. Each decision is a record in the
 * log; the store below the state directory is what the next daemon goes by.
 */
#ifndef CORDON_DAEMON_APPROVALS_H
#define CORDON_DAEMON_APPROVALS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include "audit/record/approval.h"
#include "base/failure.h"
#include "base/sha256.h"
#include "policy/core/compiled.h"

/* Policies that wait, or were decided about; beyond that, those that wait longest are forgotten. */
#define APPROVALS_MAX 4096

struct approvals;

/* Makes and reads DIRECTORY/approvals. -errno of that. */
int approvals_open(const char *directory, struct approvals **ret_approvals,
		   struct failure *failure);
void approvals_free(struct approvals *approvals);

/* What a decision is written down as; -errno: it cannot be, and the decision is not made. */
typedef int (*approvals_recorder)(void *context, const struct audit_approval *approval);

/*
 * May it be used? `use`: what by, where that is approved along with it, else NULL. -EPERM: it waits
 * for approval, and *ret_message says what it allows beyond what was approved; caller frees. `now`:
 * wall clock in ns since the epoch. -ENOMEM; -errno of the store.
 */
int approvals_check(struct approvals *approvals, const struct compiled_policy *policy,
		    const char *use, uint32_t uid, uint64_t now, approvals_recorder record,
		    void *context, char **ret_message, struct failure *failure);

/* What somebody asks for besides a policy. */
struct approval_proposal {
	const struct compiled_policy *base, *policy; /* as it is, and with what is asked for */
	char **wider; /* than the base: as widening_describe_all() has it; it may be taken over */
	const char *use;  /* for whom: an object as JSON */
	uint64_t expires; /* wall clock: approved or not, it ends then */
	uint32_t uid;
};

/* Proposals of one user that may wait at a time. */
#define APPROVALS_PROPOSED_MAX 32

/*
 * Has it wait, with exactly what it allows beyond its base. *ret_entry: how it stands, a new
 * reference; also where the same was proposed before. -ENODATA: it allows no more; -ETIME: it is
 * over already; -EDQUOT: too many of this user's wait; -EPERM: it was refused or revoked before.
 * -errno of the store.
 */
int approvals_propose(struct approvals *approvals, struct approval_proposal *proposal, uint64_t now,
		      json_t **ret_entry, struct failure *failure);

/* Proposals that wait and whose time is up ask for nothing any more. */
void approvals_forget_overdue(struct approvals *approvals, uint64_t now);

/* Nor do those for one execution that lives no more. */
typedef bool approvals_lives(const void *context, const char *execution);
void approvals_forget_ended(struct approvals *approvals, approvals_lives *lives,
			    const void *context);

/* What waited for it asks for it no more: forgets it, if it still waits and ends then. */
void approvals_withdraw(struct approvals *approvals, const char *digest, uint64_t expires);

/* The path that approvals_keep_text() gives a text. Caller frees. -ENOMEM. */
int approvals_text_path(const struct approvals *approvals, const char *text, char **ret_path);

/* Keeps the text of a proposal. *ret_path: its file, whose name the text decides; caller frees. */
int approvals_keep_text(struct approvals *approvals, const char *text, char **ret_path,
			struct failure *failure);

/* It came to nothing: removes the file, unless another proposal has the same text. */
void approvals_drop_text(struct approvals *approvals, const char *path);

/*
 * The file of the last policy that was approved for `use` in the place of `base`, just as that is
 * now, and still is; NULL: none. Valid until the approvals change.
 */
const char *approvals_amended(struct approvals *approvals, const struct compiled_policy *base,
			      const char *use, uint64_t now, approvals_recorder record,
			      void *context);

struct approval_decision {
	enum audit_approval_decision decision; /* GRANTED, REFUSED, REVOKED */
	const char *digest;		       /* its identity, or the beginning of it */
	const struct compiled_policy *ahead;   /* instead: one that nobody asked for yet */
	const char *reason;
	uint64_t expires; /* wall clock; 0: never */
	struct ucred who;
	bool own_allowed; /* a proposal, by the user who made it; root may always */
};

/*
 * -ENOENT: none of that digest; -ENOTUNIQ: several; -EALREADY: it is so already; -EINVAL: nothing
 * to revoke, or it has expired before it begins; -EPERM: the same user proposed it. *ret_entry: how
 * it stands now, a new reference.
 */
int approvals_decide(struct approvals *approvals, const struct approval_decision *decision,
		     uint64_t now, approvals_recorder record, void *context, json_t **ret_entry,
		     struct failure *failure);

/* Is that a grant of what the same user, or who logged in as that user, has proposed? */
bool approvals_is_own(const struct approvals *approvals, const struct approval_decision *decision);

/*
 * Before a decision: what it is about. One that nobody asked for waits from here on, so that the
 * decision can name it by its identity. Errors as approvals_decide().
 */
int approvals_subject(struct approvals *approvals, const struct approval_decision *decision,
		      uint64_t now, approvals_recorder record, void *context,
		      unsigned char ret_identity[SHA256_SIZE], struct failure *failure);

/*
 * Every rule and setting by which it allows what the approved one does not, or for the first of its
 * name, anything, as approval_listing_write() does it: not for the loop.
 */
int approvals_write_rules(const struct approvals *approvals,
			  const unsigned char identity[SHA256_SIZE], const char *const *directories,
			  FILE *to, struct failure *failure);

/*
 * Has them in its list and on record instead of the examples. -ENOENT: it is gone; -EPROTO;
 * -ENOMEM.
 */
int approvals_take_rules(struct approvals *approvals, const unsigned char identity[SHA256_SIZE],
			 const char *lines, size_t size);

/*
 * For one that is the first of its name, where they could not be found in time: the texts of its
 * rules.
 */
int approvals_take_texts(struct approvals *approvals, const unsigned char identity[SHA256_SIZE]);

/* They are there: an approval that is given again has them on record again. */
bool approvals_know_rules(const struct approvals *approvals,
			  const unsigned char identity[SHA256_SIZE]);

/*
 * Those from number `from` on that fit into so many bytes of JSON: new references. *ret_next: 0:
 * that is all.
 */
json_t *approvals_list(const struct approvals *approvals, size_t from, size_t room,
		       size_t *ret_next);

#endif
