/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether an execution may resolve a host's name: only if its policy allows at least one
 * connection to that host.
 */
#ifndef CORDON_POLICY_HOST_JUDGE_H
#define CORDON_POLICY_HOST_JUDGE_H

#include "policy/core/compiled.h"
#include "policy/ask/evaluate.h"
#include "policy/source/host_name.h"

/*
 * The CORDON_START_NET input for a name, without its port. Returns its size; 0: the name is longer
 * than the kernel keeps.
 */
size_t host_question(const char *name, uint8_t protocol,
		     unsigned char ret_question[CORDON_HOST_QUESTION_SIZE]);

/*
 * The complete input, as the kernel checks it for an address that belongs to the name. In rules
 * about names, both versions of ICMP are one protocol.
 */
size_t host_question_at(const char *name, uint8_t protocol, uint16_t port,
			unsigned char ret_question[CORDON_HOST_QUESTION_SIZE]);

/*
 * No rule matches the address, so the kernel checks the names that resolved to it (may_be_host(),
 * bpf/core/hosts.bpf.h).
 */
static inline bool host_asks_names(const struct policy_answer *by_address)
{
	return by_address->missing & ~by_address->verdict.deny & CORDON_RIGHT(CORDON_NET_CONNECT);
}

/*
 * With any protocol and port. `name` in the form that host_name_read() returns. -EBADMSG: damaged
 * tables.
 */
int host_judge(const struct compiled_policy *policy, const char *name,
	       struct policy_answer *ret_answer);

#endif
