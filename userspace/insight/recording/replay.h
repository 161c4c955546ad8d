/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded access asked of a policy, by the code that the kernel runs. */
#ifndef CORDON_INSIGHT_REPLAY_H
#define CORDON_INSIGHT_REPLAY_H

#include "insight/recording/recording.h"
#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"
#include "policy/ask/question.h"

struct replay_answer {
	bool decided; /* false: no policy decides this, the record's outcome stands */
	bool allowed;
	uint32_t asked;	    /* rights that it took */
	uint32_t missing;   /* rights that the policy does not grant */
	unsigned int right; /* that `rule` is about; CORDON_RIGHT_COUNT: a setting of the policy */
	uint16_t rule;	    /* that decides, or CORDON_NO_RULE */
	uint32_t granted;   /* every right that it grants on the object */
};

/*
 * What was allowed is asked for the rights that are on record; what was refused, for those that
 * were missing. -EBADMSG: the policy's tables are damaged.
 */
int replay_judge(const struct compiled_policy *policy, const struct recorded_run *run,
		 const struct recorded_access *access, struct replay_answer *ret_answer);

/* The question itself, for ACCESS_PATH to ACCESS_ABSTRACT; its bytes are the access's. */
void replay_question(const struct compiled_policy *policy, const struct recorded_run *run,
		     const struct recorded_access *access, unsigned int right,
		     struct policy_question *ret_question);

#endif
