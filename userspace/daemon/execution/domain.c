/* SPDX-License-Identifier: Apache-2.0 */
/* Which name an address stands for, of those that the DNS stub has answered to an execution. */
#include "daemon/execution/domain.h"

#include <string.h>

#include "audit/record/decode.h"
#include "policy/ask/host_judge.h"

#define CONNECT CORDON_RIGHT(CORDON_NET_CONNECT)

/* Of an execution that another daemon left, the tables may not be kept. */
static bool asks_names(const struct compiled_policy *policy)
{
	struct cordon_policy_header header;

	if (!policy || !policy->tables)
		return false;
	memcpy(&header, policy->tables, sizeof(header));
	return header.flags & CORDON_POLICY_HOSTS;
}

static bool is_allowed(const struct compiled_policy *policy, const void *question, size_t size,
		       uint16_t *ret_rule)
{
	struct policy_answer answer;

	if (policy_judge(policy->tables, policy->tables_size, CORDON_START_NET, question, size,
			 CONNECT, &answer) < 0 ||
	    answer.missing)
		return false;
	*ret_rule = answer.rule[CORDON_NET_CONNECT];
	return true;
}

static bool name_allows(const struct compiled_policy *policy, const char *name,
			const struct decoded_address *address, uint16_t *ret_rule)
{
	unsigned char question[CORDON_HOST_QUESTION_SIZE];
	size_t size = host_question_at(name, address->protocol, address->port, question);

	return size > 0 && is_allowed(policy, question, size, ret_rule);
}

/* Of what stood for it at the time, on the boot clock. `key`: of which execution. */
static bool find_name(struct enforcement *enforcement, const struct compiled_policy *policy,
		      struct cordon_host_key key, uint64_t time,
		      const struct decoded_address *address, struct event_domain *domain)
{
	bool found = false;

	key.family = address->family;
	memcpy(key.address, address->address, address->family == 4 ? 4 : 16);
	for (key.index = 0; key.index < CORDON_NAMES_PER_ADDRESS; key.index++) {
		struct cordon_host host;
		char name[HOST_NAME_SIZE];
		bool allows;

		if (enforcement_host_get(enforcement, &key, &host) < 0 || host.expiry < time)
			continue;
		host_name_restore((const char *)host.question + 2, host.length - 3, name);
		allows = name_allows(policy, name, address, &domain->rule);
		if (!found || allows)
			memcpy(domain->name, name, sizeof(name));
		found = true;
		if (allows)
			break;
	}
	return found;
}

bool domain_find(struct enforcement *enforcement, const struct compiled_policy *policy,
		 const struct cordon_event *event, size_t size, struct event_domain *ret_domain)
{
	struct event_domain domain = {.rule = CORDON_NO_RULE};
	struct cordon_host_key key = {.slot = event->slot, .generation = event->generation};
	const struct decoded_access *access;
	struct decoded_address address;
	struct decoded_event decoded;
	uint16_t rule;

	if ((event->type != CORDON_EVENT_DENIAL && event->type != CORDON_EVENT_CONNECT) ||
	    !asks_names(policy) || decode_event(event, size, &decoded) < 0)
		return false;
	access = event->type == CORDON_EVENT_DENIAL ? &decoded.denial.access : &decoded.access;
	if (access->object_kind != CORDON_OBJECT_NET ||
	    is_allowed(policy, access->object, access->object_length, &rule))
		return false;
	decode_address(access, &address);
	if (!find_name(enforcement, policy, key, event->time, &address, &domain))
		return false;
	*ret_domain = domain;
	return true;
}

bool domain_of_traffic(struct enforcement *enforcement, const struct compiled_policy *policy,
		       uint32_t slot, const struct cordon_traffic *traffic,
		       struct event_domain *ret_domain)
{
	const struct decoded_access access = {.object = (const unsigned char *)traffic->name};
	struct cordon_host_key key = {.slot = slot, .generation = traffic->generation};
	struct event_domain domain = {.rule = CORDON_NO_RULE};
	struct decoded_address address;

	if (traffic->served || !asks_names(policy))
		return false;
	decode_address(&access, &address);
	/* Whatever it stood for while the execution lived. */
	if (!find_name(enforcement, policy, key, 0, &address, &domain))
		return false;
	*ret_domain = domain;
	return true;
}
