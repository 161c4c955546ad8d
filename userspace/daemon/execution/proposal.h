/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks for besides a policy, from the asking to the effect: for one execution that lives, for those of a
 * session, or for all that run under the policy from then on.
 */
#ifndef CORDON_DAEMON_PROPOSAL_H
#define CORDON_DAEMON_PROPOSAL_H

#include "control/decide_request.h"
#include "daemon/execution/execution.h"
#include "daemon/execution/refused.h"

/* However long somebody asks for it. */
#define PROPOSAL_DAYS_MAX 30u

struct proposal {
	struct refused refused;
	char *use, *path; /* for whom, and the file that amends the policy */
	uint64_t expires;
	uint32_t uid;
};

/*
 * Finds what an execution was refused. -ENOENT, -ENOTUNIQ: of the id; -ESRCH: it has ended, and for that execution it was;
 * -ENODATA: nothing that a rule could allow was refused; -EINVAL; -errno of the store. Release it.
 */
int proposal_begin(struct daemon *daemon, const struct propose_request *request,
		   const struct peer *peer, struct proposal *ret_proposal, struct failure *failure);

/* Takes the file away as well, if nothing that waits is about it. */
void proposal_release(struct daemon *daemon, struct proposal *proposal);

/* In an errand: compiles and compares it, and writes that for proposal_put(). -errno. */
int proposal_work(const struct daemon *daemon, const struct proposal *proposal, FILE *to,
		  struct failure *failure);

/*
 * In the loop: puts it into the approvals' inbox. *ret_entry: as it stands there, a new reference; *ret_left: refusals that it
 * says nothing of, since they are no matter of rules or too many. -EPROTO, or as approvals_propose().
 */
int proposal_put(struct daemon *daemon, const struct proposal *proposal, const char *data,
		 size_t size, json_t **ret_entry, uint64_t *ret_left, struct failure *failure);

/*
 * The policy that was approved in the place of *use for this session, or for all: takes over the reference, and gives one.
 * What cannot be used leaves it as it is. `session`: NULL: none. `uid`: whose session it is.
 */
void proposal_amend(struct daemon *daemon, const char *session, uid_t uid,
		    const struct policy_use **use);

/* One was approved: puts the execution that it is for under it, if it is for one. How many were: 0 or 1. */
size_t proposal_apply(struct daemon *daemon, const json_t *entry, const char *reason,
		      const struct ucred *who);

#endif
