/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody asks for besides a policy: for one execution that lives, for those of a session, or
 * for all that run under the policy from then on. What comes of it is in approved.h.
 */
#ifndef CORDON_DAEMON_PROPOSAL_H
#define CORDON_DAEMON_PROPOSAL_H

#include "control/decide_request.h"
#include "daemon/execution/execution.h"
#include "daemon/execution/refused.h"
#include "daemon/privsep/errand.h"

/* However long somebody asks for it. */
#define PROPOSAL_DAYS_MAX 30u

/* What proposal_work() writes at most: the tables of both, and the texts of rules beside them. */
#define PROPOSAL_DATA_MAX ((size_t)2 * CORDON_MAX_PAGES * CORDON_PAGE_SIZE + ERRAND_DATA_MAX)

struct proposal {
	bool waits; /* a call waits for it, and is what it asks for */
	struct refused refused;
	char *use, *path; /* for whom, and the file that amends the policy */
	size_t unsettled; /* refusals that the file does not allow */
	uint64_t expires;
	uint32_t uid;
};

/*
 * For whom: approved along with the policy, and shown beside it. NULL without memory; caller frees.
 */
char *proposal_use(enum propose_scope scope, const char *id, const char *session, uid_t uid);

/*
 * Finds what an execution was refused. -ENOENT, -ENOTUNIQ: of the id; -ESRCH: it has ended, and for
 * that execution it was;
 * -ENODATA: nothing that a rule could allow was refused; -EINVAL; -errno of the store. Release it.
 */
int proposal_begin(struct daemon *daemon, const struct propose_request *request,
		   const struct peer *peer, struct proposal *ret_proposal, struct failure *failure);

/*
 * For one execution, and for the one call of its that CORDON_EVENT_WAITS tells of. `record`: what
 * its denial would be on record as. -ENODATA: no rule could allow it; -ENOMEM; -errno of the store.
 * Release it.
 */
int proposal_of_call(const struct execution *e, const struct cordon_event *event,
		     const struct buffer *record, uint64_t expires, struct proposal *ret_proposal,
		     struct failure *failure);

/* Takes the file away as well, if nothing that waits is about it. */
void proposal_release(struct daemon *daemon, struct proposal *proposal);

/* In an errand: compiles and compares it, and writes that for proposal_put(). -errno. */
int proposal_work(const struct daemon *daemon, const struct proposal *proposal, FILE *to,
		  struct failure *failure);

/*
 * In the loop: puts it into the approvals' inbox. *ret_entry: as it stands there, a new reference;
 * *ret_left: refusals that it says nothing of, since they are no matter of rules or too many.
 * -EPROTO, or as approvals_propose().
 */
int proposal_put(struct daemon *daemon, struct proposal *proposal, const char *data, size_t size,
		 json_t **ret_entry, uint64_t *ret_left, struct failure *failure);

#endif
