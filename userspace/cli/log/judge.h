/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about an access, put to the policies that an execution of the log was under. */
#ifndef CORDON_CLI_JUDGE_H
#define CORDON_CLI_JUDGE_H

#include <jansson.h>

#include "policy/core/compiled.h"
#include "policy/ask/question.h"

struct judge {
	struct compiled_policy *policy;
	/* as the execution's start record says */
	const char *directories[CORDON_MAX_ANCHORS];
	/* where the source is as it was, so that all rules that match can be told */
	bool have_source;
	char **search_directories;
};

/*
 * The policy of this digest, kept beside the log; `start`: the record of the execution's start,
 * borrowed as long as the judge is used. Negative errno: it was said why.
 */
int judge_open(const char *directory, const char *digest, const json_t *start,
	       struct judge *ret_judge);
void judge_close(struct judge *judge);

/* A rule by its number, a new reference; null for CORDON_NO_RULE. */
json_t *judge_rule(const struct judge *judge, uint32_t number);

/*
 * All rules that speak of what is asked but for `decides`: an array, or null where only the
 * deciding one can be told. A new reference.
 */
json_t *judge_others(const struct judge *judge, const struct policy_question *question,
		     uint32_t decides);

#endif
