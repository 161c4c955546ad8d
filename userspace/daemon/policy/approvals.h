/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which policies may be used, where a person has to say so: those that were approved, and whatever allows no
 * more than one of the same name that was. Others wait. Each decision is a record in the log; the store
 * below the state directory is what the next daemon goes by.
 */
#ifndef CORDON_DAEMON_APPROVALS_H
#define CORDON_DAEMON_APPROVALS_H

#include <jansson.h>
#include <stdint.h>
#include <sys/socket.h>

#include "audit/record/approval.h"
#include "base/failure.h"
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
 * May it be used? `use`: what by, where that is approved along with it, else NULL. -EPERM: it waits for approval, and *ret_message says what it allows beyond what was
 * approved; caller frees. `now`: wall clock in ns since the epoch. -ENOMEM; -errno of the store.
 */
int approvals_check(struct approvals *approvals, const struct compiled_policy *policy,
		    const char *use, uint32_t uid, uint64_t now, approvals_recorder record,
		    void *context, char **ret_message, struct failure *failure);

struct approval_decision {
	enum audit_approval_decision decision; /* GRANTED, REFUSED, REVOKED */
	const char *digest;		       /* its identity, or the beginning of it */
	const struct compiled_policy *ahead;   /* instead: one that nobody asked for yet */
	const char *reason;
	uint64_t expires; /* wall clock; 0: never */
	struct ucred who;
};

/*
 * -ENOENT: none of that digest; -ENOTUNIQ: several; -EALREADY: it is so already; -EINVAL: nothing to revoke, or
 * it has expired before it begins. *ret_entry: how it stands now, a new reference.
 */
int approvals_decide(struct approvals *approvals, const struct approval_decision *decision,
		     uint64_t now, approvals_recorder record, void *context, json_t **ret_entry,
		     struct failure *failure);

/* Those from number `from` on that fit into so many bytes of JSON: new references. *ret_next: 0: that is all. */
json_t *approvals_list(const struct approvals *approvals, size_t from, size_t room,
		       size_t *ret_next);

#endif
