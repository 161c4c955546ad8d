/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a recorded access under a policy, with the same code as the kernel. */
#ifndef CORDON_INSIGHT_REPLAY_H
#define CORDON_INSIGHT_REPLAY_H

#include "insight/recording/recording.h"
#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"
#include "policy/ask/question.h"

struct replay_answer {
	bool decided; /* false: no policy decides this, the record's outcome holds */
	bool allowed;
	uint32_t asked;	    /* required rights */
	uint32_t missing;   /* rights that the policy does not grant */
	unsigned int right; /* the right that `rule` decides; CORDON_RIGHT_COUNT: a setting */
	uint16_t rule;	    /* the deciding rule, or CORDON_NO_RULE */
	uint32_t granted;   /* all rights that it grants on the object */
};

/*
 * Evaluates an access: a permitted one for its logged rights, a denied one for its missing rights.
 * Returns 0, or -EBADMSG if the policy's tables are damaged.
 */
int replay_judge(const struct compiled_policy *policy, const struct recorded_run *run,
		 const struct recorded_access *access, struct replay_answer *ret_answer);

/* Returns the check's input for ACCESS_PATH to ACCESS_ABSTRACT; it points to the access's bytes. */
void replay_question(const struct compiled_policy *policy, const struct recorded_run *run,
		     const struct recorded_access *access, unsigned int right,
		     struct policy_question *ret_question);

#endif
