/* SPDX-License-Identifier: Apache-2.0 */
/* May an execution know where a host is? That is: does its policy let it connect there somehow? */
#ifndef CORDON_POLICY_HOST_JUDGE_H
#define CORDON_POLICY_HOST_JUDGE_H

#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"
#include "policy/source/host_name.h"

/*
 * The START_NET question about a name, without its port. Returns its size; 0: it is longer than the
 * kernel keeps.
 */
size_t host_question(const char *name, uint8_t protocol,
		     unsigned char ret_question[CORDON_HOST_QUESTION_SIZE]);

/*
 * The whole question, as the kernel asks it of an address that stands for the name: names know one
 * protocol for echo requests.
 */
size_t host_question_at(const char *name, uint8_t protocol, uint16_t port,
			unsigned char ret_question[CORDON_HOST_QUESTION_SIZE]);

/*
 * No rule speaks of the address: the kernel asks about the names that it stands for (may_be_host(),
 * bpf/core/hosts.bpf.h).
 */
static inline bool host_asks_names(const struct policy_answer *by_address)
{
	return by_address->missing & ~by_address->verdict.deny & CORDON_RIGHT(CORDON_NET_CONNECT);
}

/* At whatever protocol and port. `name` as host_name_read() leaves it. -EBADMSG: damaged tables. */
int host_judge(const struct compiled_policy *policy, const char *name,
	       struct policy_answer *ret_answer);

#endif
