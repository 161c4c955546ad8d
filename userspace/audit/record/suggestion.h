/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest rule that would have allowed what was refused. */
#ifndef CORDON_AUDIT_SUGGESTION_H
#define CORDON_AUDIT_SUGGESTION_H

#include "audit/text/buffer.h"
#include "audit/record/decode.h"
#include "audit/record/record.h"

struct suggestion {
	char *rule; /* YAML for the policy, a line or more without the last newline; or NULL */
	char *why;  /* why there is no rule; NULL if there is one */
};

/*
 * Adds the rule to `out`; or returns why there is none. For an event that decode_event() let pass.
 */
const char *suggestion_write(const struct audit_execution *execution,
			     const struct decoded_access *access, uint8_t reason,
			     struct buffer *out);

void suggestion_free(struct suggestion *suggestion);

/* The same, as strings. -ENOMEM. */
int suggestion_make(const struct audit_execution *execution, const struct decoded_access *access,
		    uint8_t reason, struct suggestion *ret);

#endif
