/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the requests about approvals. */
#include "control/decide_request.h"

#include <string.h>

#include "base/cleanup.h"
#include "control/request.h"
#include "control/request_fields.h"

/* A shorter prefix may match several digests. */
#define DIGITS_MIN 8

static int parse_decision(const char *text, enum audit_approval_decision *ret_decision,
			  struct failure *failure)
{
	static const struct {
		const char *word;
		enum audit_approval_decision decision;
	} words[] = {
		{"approve", AUDIT_APPROVAL_GRANTED},
		{"refuse", AUDIT_APPROVAL_REFUSED},
		{"revoke", AUDIT_APPROVAL_REVOKED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].word, text) == 0) {
			*ret_decision = words[i].decision;
			return 0;
		}
	}
	return failure_set(failure, EINVAL, "unknown decision \"%.64s\"", text);
}

static int parse_digest(const char *text, char digest[SHA256_TEXT_SIZE], struct failure *failure)
{
	size_t length = strlen(text);

	if (length < DIGITS_MIN || length >= SHA256_TEXT_SIZE ||
	    strspn(text, "0123456789abcdefABCDEF") != length)
		return failure_set(failure, EINVAL,
				   "\"digest\" must be %d to 64 digits of a SHA-256 digest",
				   DIGITS_MIN);
	memcpy(digest, text, length + 1);
	return 0;
}

static int parse_into(json_t *message, struct decide_request *request, struct failure *failure)
{
	const char *op, *decision, *reason, *digest, *policy;
	json_t *digest_json, *policy_json;
	json_int_t expires;
	json_error_t error;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:s,s:o,s:o,s:s,s:I!}", "op", &op, "decision",
			   &decision, "digest", &digest_json, "policy", &policy_json, "reason",
			   &reason, "expires", &expires) < 0)
		return request_malformed(failure, &error);
	(void)((r = parse_decision(decision, &request->decision, failure)) < 0 ||
	       (r = request_text("digest", digest_json, &digest, failure)) < 0 ||
	       (r = request_text("policy", policy_json, &policy, failure)) < 0);
	if (r < 0)
		return r;
	if (!digest == !policy || (policy && request->decision != AUDIT_APPROVAL_GRANTED))
		return failure_set(failure, EINVAL,
				   "\"digest\" must be there, or \"policy\" to approve one ahead");
	if (expires < 0 || (expires > 0 && request->decision != AUDIT_APPROVAL_GRANTED))
		return failure_set(failure, EINVAL,
				   "\"expires\" is for approvals, and not negative");
	request->expires = (uint64_t)expires;
	r = digest ? parse_digest(digest, request->digest, failure)
		   : request_copy_policy(policy, &request->policy, failure);
	return r < 0 ? r
		     : request_copy_bounded("reason", reason, REQUEST_REASON_MAX, &request->reason,
					    failure);
}

int decide_request_parse(json_t *message, struct decide_request *ret_request,
			 struct failure *failure)
{
	struct decide_request request = {};
	int r = parse_into(message, &request, failure);

	if (r < 0)
		decide_request_release(&request);
	else
		*ret_request = request;
	return r;
}

void decide_request_release(struct decide_request *request)
{
	free(request->policy);
	free(request->reason);
	*request = (struct decide_request){};
}

static int parse_scope(const char *text, enum propose_scope *ret_scope, struct failure *failure)
{
	static const char *const words[] = {
		[PROPOSE_EXECUTION] = "execution",
		[PROPOSE_SESSION] = "session",
		[PROPOSE_POLICY] = "policy",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], text) == 0) {
			*ret_scope = (enum propose_scope)i;
			return 0;
		}
	}
	return failure_set(failure, EINVAL, "\"for\" is execution, session or policy");
}

static int parse_beginning_of_id(const char *text, char id[UUID_TEXT_SIZE], struct failure *failure)
{
	size_t length = strlen(text);

	if (length < DIGITS_MIN || length >= UUID_TEXT_SIZE ||
	    strspn(text, "0123456789abcdef-") != length)
		return failure_set(
			failure, EINVAL,
			"\"execution\" must be an id, or its first %d characters or more",
			DIGITS_MIN);
	memcpy(id, text, length + 1);
	return 0;
}

int propose_request_parse(json_t *message, struct propose_request *ret_request,
			  struct failure *failure)
{
	struct propose_request request = {};
	const char *op, *execution, *scope;
	json_int_t expires;
	json_error_t error;
	int r;

	if (json_unpack_ex(message, &error, 0, "{s:s,s:s,s:s,s:I!}", "op", &op, "execution",
			   &execution, "for", &scope, "expires", &expires) < 0)
		return request_malformed(failure, &error);
	if (expires <= 0)
		return failure_set(failure, EINVAL, "\"expires\" must be a time");
	request.expires = (uint64_t)expires;
	r = parse_beginning_of_id(execution, request.execution, failure);
	if (r == 0)
		r = parse_scope(scope, &request.scope, failure);
	if (r == 0)
		*ret_request = request;
	return r;
}

int approvals_request_parse(json_t *message, uint32_t *ret_from, struct failure *failure)
{
	json_error_t error;
	json_int_t from = 0;
	const char *op;

	if (json_unpack_ex(message, &error, 0, "{s:s,s?I!}", "op", &op, "from", &from) < 0)
		return request_malformed(failure, &error);
	if (from < 0 || from > INT32_MAX)
		return failure_set(failure, EINVAL, "from: there is no such entry");
	*ret_from = (uint32_t)from;
	return 0;
}
