/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy says to names that executions ask for, and what follows from it. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdalign.h>
#include <string.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "daemon/dns/dns_stub_parts.h"
#include "daemon/execution/ending.h"
#include "daemon/execution/events.h"
#include "policy/ask/host_judge.h"
#include "policy/automaton/sheltered.h"

/* A name that is refused again within that time is counted, not recorded again. */
#define RECENT_NSEC NSEC_PER_SEC

/*
 * True: on record a moment ago. *ret_repeats: how often it was only counted since the record
 * before.
 */
static bool is_repeated(struct dns_client *client, const char *name, uint64_t now,
			uint32_t *ret_repeats)
{
	uint64_t hash = fnv1a(FNV1A_START, name, strlen(name));
	struct dns_recent *recent;

	*ret_repeats = 0;
	for (size_t i = 0; i < DNS_RECENT; i++) {
		recent = &client->recent[i];
		if (recent->name != hash || recent->until == 0)
			continue;
		if (now < recent->until) {
			recent->repeats++;
			return true;
		}
		*ret_repeats = recent->repeats;
		recent->repeats = 0;
		recent->until = now + RECENT_NSEC;
		return false;
	}
	recent = &client->recent[client->next_recent++ % DNS_RECENT];
	*recent = (struct dns_recent){.name = hash, .until = now + RECENT_NSEC};
	return false;
}

static void record_refusal(struct dns_asker *asker, const char *name, uint16_t rule,
			   enum cordon_reason reason)
{
	struct execution *e = asker->execution;
	alignas(struct cordon_denial_event) char
		event[sizeof(struct cordon_denial_event) + HOST_NAME_SIZE] = {};
	struct cordon_denial_event *d = (struct cordon_denial_event *)event;
	uint64_t now = clock_nsec(CLOCK_BOOTTIME), sequence;
	bool would = e->record.observe;
	bool repeated = is_repeated(asker->client, name, now, &d->repeats);

	enforcement_note_denial(e->daemon->enforcement, e->slot, would,
				repeated ? NULL : &sequence);
	if (repeated) {
		ending_check_denials(e);
		return;
	}
	d->event = asker->maker;
	d->event.sequence = sequence;
	d->event.type = CORDON_EVENT_DENIAL;
	d->event.size = (uint32_t)(sizeof(*d) + strlen(name));
	d->event.time = now;
	d->event.policy = e->view->policy;
	d->operation = CORDON_OP_RESOLVE;
	d->rights = CORDON_RIGHT(CORDON_NET_CONNECT);
	d->error = -EACCES;
	d->rule = rule;
	d->reason = (uint8_t)reason;
	d->would = would;
	d->object_kind = CORDON_OBJECT_HOST;
	d->object_length = d->object_total = (uint32_t)strlen(name);
	memcpy(d->object, name, strlen(name));
	events_handle(event, d->event.size, e->daemon);
	daemon_flush_soon(e->daemon);
}

static void record_verdict(struct dns_asker *asker, const char *name,
			   const struct policy_answer *answer)
{
	record_refusal(asker, name, answer->rule[CORDON_NET_CONNECT],
		       answer->missing & answer->verdict.deny ? CORDON_REASON_RULE
							      : CORDON_REASON_DEFAULT);
}

bool dns_name_allowed(struct dns_asker *asker, const char *name)
{
	const struct compiled_policy *policy = asker->execution->record.policy;
	struct policy_answer answer;

	if (!policy || host_judge(policy, name, &answer) < 0)
		return false;
	if (!answer.missing)
		return true;
	record_verdict(asker, name, &answer);
	return asker->execution->record.observe;
}

bool dns_aliases_denied(struct dns_asker *asker, const struct dns_answer *dns)
{
	const struct compiled_policy *policy = asker->execution->record.policy;
	struct policy_answer answer;

	for (size_t i = 0; i < dns->alias_count; i++) {
		if (!policy || host_judge(policy, dns->aliases[i], &answer) < 0)
			return true;
		if (!(answer.missing & answer.verdict.deny))
			continue;
		record_verdict(asker, dns->aliases[i], &answer);
		if (!asker->execution->record.observe)
			return true;
	}
	return false;
}

static int install(struct dns_asker *asker, const struct cordon_host *host,
		   const struct dns_address *address)
{
	struct cordon_host_key key = {
		.slot = asker->execution->slot,
		.generation = asker->execution->generation,
		.family = address->family,
	};

	memcpy(key.address, address->address, address->family == 4 ? 4 : 16);
	return enforcement_host_add(asker->execution->daemon->enforcement, &key, host);
}

/* IPv4 in IPv6's clothes is connected to as IPv4. */
static bool is_reachable(const struct dns_address *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, none[16];
	size_t size = address->family == 4 ? 4 : 16;

	return !sheltered_address(address->family, address->address) &&
	       (address->family == 4 || memcmp(address->address, mapped, sizeof(mapped)) != 0) &&
	       memcmp(address->address, none, size) != 0;
}

/* Those that names do not lead to are taken out. */
static void keep_reachable(struct dns_asker *asker, const char *name, struct dns_answer *answer)
{
	size_t kept = 0;

	for (size_t i = 0; i < answer->address_count; i++)
		if (is_reachable(&answer->addresses[i]))
			answer->addresses[kept++] = answer->addresses[i];
	if (kept < answer->address_count)
		record_refusal(asker, name, CORDON_NO_RULE, CORDON_REASON_FOREIGN);
	answer->address_count = kept;
}

/* The same in whatever order the addresses come. */
static uint64_t digest_answer(const char *name, const struct dns_answer *answer)
{
	uint64_t start = fnv1a(FNV1A_START, name, strlen(name)), sum = start;

	for (size_t i = 0; i < answer->address_count; i++)
		sum += fnv1a(start, (const char *)answer->addresses[i].address,
			     answer->addresses[i].family == 4 ? 4 : 16);
	return sum;
}

static void record_answer(struct dns_asker *asker, const char *name,
			  const struct dns_answer *answer, uint64_t until)
{
	struct execution *e = asker->execution;
	char texts[DNS_ADDRESSES_MAX][INET6_ADDRSTRLEN], *addresses[DNS_ADDRESSES_MAX + 1] = {};
	uint64_t now = clock_nsec(CLOCK_REALTIME);
	struct audit_resolution resolution = {
		.name = name,
		.addresses = addresses,
		.until = now + until - clock_nsec(CLOCK_BOOTTIME),
	};

	for (size_t i = 0; i < answer->address_count; i++) {
		inet_ntop(answer->addresses[i].family == 4 ? AF_INET : AF_INET6,
			  answer->addresses[i].address, texts[i], sizeof(texts[i]));
		addresses[i] = texts[i];
	}
	(void)logs_append(e->log, audit_record_resolution(&e->record, &resolution, now));
	daemon_flush_soon(e->daemon);
}

/* Until when the answer holds; *ret_new: which is not on record yet. */
static uint64_t give(struct dns_client *client, uint64_t digest, uint32_t ttl, bool *ret_new)
{
	uint64_t now = clock_nsec(CLOCK_BOOTTIME);
	struct dns_given *given = NULL;

	for (size_t i = 0; i < DNS_GIVEN && !given; i++)
		if (client->given[i].answer == digest && client->given[i].until > 0)
			given = &client->given[i];
	*ret_new = !given || now >= given->renew;
	if (!*ret_new)
		return given->until;
	if (!given)
		given = &client->given[client->next_given++ % DNS_GIVEN];
	*given = (struct dns_given){
		.answer = digest,
		.until = now + ttl * NSEC_PER_SEC,
		.renew = now + ttl * NSEC_PER_SEC / 2,
	};
	return given->until;
}

int dns_install(struct dns_asker *asker, const char *name, struct dns_answer *answer)
{
	struct cordon_host host = {};
	bool new;
	int r;

	if (answer->ttl < DNS_TTL_LEAST)
		answer->ttl = DNS_TTL_LEAST;
	if (answer->ttl > DNS_TTL_MOST)
		answer->ttl = DNS_TTL_MOST;
	host.length = (uint32_t)host_question(name, IPPROTO_TCP, host.question);
	if (!host.length)
		return -ENAMETOOLONG;
	keep_reachable(asker, name, answer);
	if (answer->address_count == 0)
		return 0;
	host.expiry = give(asker->client, digest_answer(name, answer), answer->ttl, &new);
	answer->ttl = (uint32_t)((host.expiry - clock_nsec(CLOCK_BOOTTIME)) / NSEC_PER_SEC);
	/* Before it can be used. */
	if (new)
		record_answer(asker, name, answer, host.expiry);
	for (size_t i = 0; i < answer->address_count; i++) {
		r = install(asker, &host, &answer->addresses[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
