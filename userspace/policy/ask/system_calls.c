/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls an execution has no use for, going by its policy. */
#include "policy/ask/system_calls.h"

#include <string.h>

#include "policy/ask/evaluate.h"
#include "policy/source/words.h"

static int may_have_sockets(const struct compiled_policy *p, uint8_t family, bool *ret_may)
{
	struct cordon_verdict outcome;
	struct cordon_final final;
	int r;

	r = policy_run(p->tables, p->tables_size, CORDON_START_SOCKET, &family, sizeof(family),
		       &outcome, &final);
	if (r == 0)
		*ret_may = final.may_allow & CORDON_RIGHT(CORDON_SOCKET);
	return r;
}

static int families(const struct compiled_policy *p, uint64_t *ret_families)
{
	uint64_t set = 0;

	for (unsigned int family = 0; family < 64; family++) {
		bool may = true;

		if (!words_name(words_socket_families, family)) {
			int r = may_have_sockets(p, (uint8_t)family, &may);

			if (r < 0)
				return r;
		}
		if (may)
			set |= 1ull << family;
	}
	*ret_families = set;
	return 0;
}

static int may_map_anonymous(const struct compiled_policy *p, bool *ret_may)
{
	static const char name[] = "@anonymous";
	struct policy_answer answer;
	int r;

	r = policy_judge(p->tables, p->tables_size, CORDON_START_PATH, name, strlen(name),
			 CORDON_RIGHT(CORDON_MAP), &answer);
	if (r == 0)
		*ret_may = !answer.missing;
	return r;
}

int policy_system_calls(const struct compiled_policy *policy, struct policy_system_calls *ret_calls)
{
	const struct cordon_policy_header *header = (const void *)policy->tables;
	struct policy_system_calls calls = {
		/* Observing must not change the program's behaviour. */
		.all = policy->observe || (header->flags & CORDON_POLICY_ALL_SYSTEM_CALLS),
		.guarded = !(header->flags & CORDON_POLICY_STRICT_CALLS),
		.mounts = header->flags & CORDON_POLICY_NAMESPACES,
		.tracing = header->flags & CORDON_POLICY_TRACE_OWN,
		.io_uring = header->flags & CORDON_POLICY_IO_URING,
	};
	int r;

	r = may_map_anonymous(policy, &calls.executable_memory);
	if (r == 0)
		r = families(policy, &calls.families);
	if (r == 0)
		*ret_calls = calls;
	return r;
}
