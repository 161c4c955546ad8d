/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest rule that would have allowed what was refused. */
#ifndef CORDON_AUDIT_SUGGESTION_H
#define CORDON_AUDIT_SUGGESTION_H

#include "audit/decode.h"
#include "audit/record.h"

struct suggestion {
	char *rule; /* YAML for the policy, a line or more without the last newline; or NULL */
	char *why;  /* why there is no rule; NULL if there is one */
};

void suggestion_free(struct suggestion *suggestion);

/* For an event that decode_event() let pass. -ENOMEM. */
int suggestion_make(const struct audit_execution *execution, const struct decoded_access *access,
		    uint8_t reason, struct suggestion *ret);

#endif
