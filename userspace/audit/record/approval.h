/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a human's decision about what a policy may allow. Pure, as record.h. */
#ifndef CORDON_AUDIT_APPROVAL_H
#define CORDON_AUDIT_APPROVAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/record/record.h"
#include "base/sha256.h"

enum audit_approval_decision {
	AUDIT_APPROVAL_GRANTED,
	AUDIT_APPROVAL_REFUSED,
	AUDIT_APPROVAL_REVOKED,
	AUDIT_APPROVAL_EXPIRED,
	AUDIT_APPROVAL_USED, /* something ran, or changed, because of one */
};

/* Strings may be NULL unless said otherwise. */
struct audit_approval {
	enum audit_approval_decision decision;
	const char *subject; /* never NULL: what it is about: a policy, a limit, ... */
	unsigned char digest[SHA256_SIZE]; /* of what is approved: nothing else is */
	bool have_base;
	unsigned char base[SHA256_SIZE]; /* of what it was compared with */
	const char *reason;
	/* What it allows besides, an example each; NULL-terminated, or NULL. */
	char *const *witnesses;
	const char *who; /* the name of the user who decided, as far as it is known */
	/* Of the process that said so; with AUDIT_APPROVAL_EXPIRED cordon's own. */
	uint32_t pid, uid;
	bool have_login;
	uint32_t login_uid; /* whom it was logged in as, whatever it became then */
	uint64_t expires;   /* wall clock in ns since the epoch; 0: never */
	const struct audit_execution *execution; /* that it is used for, or NULL */
};

/* A new reference; `time`: wall clock in ns since the epoch. NULL: without memory. */
json_t *audit_record_approval(const struct audit_approval *approval, uint64_t time);

#endif
