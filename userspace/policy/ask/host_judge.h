/* SPDX-License-Identifier: Apache-2.0 */
/* May an execution know where a host is? That is: does its policy let it connect there somehow? */
#ifndef CORDON_POLICY_HOST_JUDGE_H
#define CORDON_POLICY_HOST_JUDGE_H

#include "policy/compile/compile.h"
#include "policy/ask/evaluate.h"
#include "policy/source/host_name.h"

/*
 * The START_NET question about a name, without its port. Returns its size; 0: it is longer than the kernel keeps.
 */
size_t host_question(const char *name, uint8_t protocol,
		     unsigned char ret_question[CORDON_HOST_QUESTION_SIZE]);

/* At whatever protocol and port. `name` as host_name_read() leaves it. -EBADMSG: damaged tables. */
int host_judge(const struct compiled_policy *policy, const char *name,
	       struct policy_answer *ret_answer);

#endif
