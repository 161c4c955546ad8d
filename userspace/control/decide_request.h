/* SPDX-License-Identifier: Apache-2.0 */
/* The requests about approvals; see request.h. */
#ifndef CORDON_DAEMON_DECIDE_REQUEST_H
#define CORDON_DAEMON_DECIDE_REQUEST_H

#include <jansson.h>
#include <stdint.h>

#include "audit/record/approval.h"
#include "base/failure.h"
#include "base/sha256.h"
#include "base/uuid.h"

/* Exactly one of digest and policy is set. */
struct decide_request {
	enum audit_approval_decision decision; /* GRANTED, REFUSED, REVOKED */
	char digest[SHA256_TEXT_SIZE];	       /* or a prefix of it, lower case; or "" */
	char *policy;	  /* name or absolute path; only with GRANTED; or NULL */
	char *reason;	  /* never NULL */
	uint64_t expires; /* wall clock in ns since the epoch; 0: never */
};

int decide_request_parse(json_t *message, struct decide_request *ret_request,
			 struct failure *failure);
void decide_request_release(struct decide_request *request);

enum propose_scope { PROPOSE_EXECUTION, PROPOSE_SESSION, PROPOSE_POLICY };

struct propose_request {
	char execution[UUID_TEXT_SIZE]; /* id, or its first 8 characters or more */
	enum propose_scope scope;
	uint64_t expires; /* wall clock in ns since the epoch */
};

int propose_request_parse(json_t *message, struct propose_request *ret_request,
			  struct failure *failure);

/* *ret_from: index of the first entry. */
int approvals_request_parse(json_t *message, uint32_t *ret_from, struct failure *failure);

#endif
