/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a policy lets an execution connect to a host somehow. */
#include "policy/ask/host_judge.h"

#include <netinet/in.h>
#include <string.h>

size_t host_question(const char *name, uint8_t protocol,
		     unsigned char ret_question[CORDON_HOST_QUESTION_SIZE])
{
	char reversed[HOST_NAME_SIZE];
	size_t size = strlen(name) + 1;

	/* The kernel appends the port. */
	if (2 + size > CORDON_HOST_QUESTION_SIZE - 3)
		return 0;
	host_name_reverse(name, reversed);
	ret_question[0] = CORDON_NET_NAME;
	ret_question[1] = protocol;
	memcpy(ret_question + 2, reversed, size);
	return 2 + size;
}

size_t host_question_at(const char *name, uint8_t protocol, uint16_t port,
			unsigned char ret_question[CORDON_HOST_QUESTION_SIZE])
{
	size_t size = host_question(name, protocol == IPPROTO_ICMPV6 ? IPPROTO_ICMP : protocol,
				    ret_question);

	if (size == 0)
		return 0;
	ret_question[size++] = (unsigned char)(port >> 8);
	ret_question[size++] = (unsigned char)port;
	return size;
}

int host_judge(const struct compiled_policy *policy, const char *name,
	       struct policy_answer *ret_answer)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP};
	const uint32_t wanted = CORDON_RIGHT(CORDON_NET_CONNECT);
	unsigned char question[CORDON_HOST_QUESTION_SIZE];
	struct policy_answer answer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		size_t size = host_question(name, protocols[i], question);
		struct policy_answer a = {.missing = wanted};
		int r = 0;

		memset(a.rule, 0xff, sizeof(a.rule));
		if (size)
			r = policy_judge_any_port(policy->tables, policy->tables_size, question,
						  size, wanted, &a);
		if (r < 0)
			return r;
		if (i == 0 || !a.missing || (!answer.verdict.deny && a.verdict.deny))
			answer = a;
		if (!a.missing)
			break;
	}
	*ret_answer = answer;
	return 0;
}
