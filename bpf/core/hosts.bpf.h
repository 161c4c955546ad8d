/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Addresses that the DNS proxy has resolved for an execution. For each, the policy is checked with
 * the names that it was resolved from. Allow rules, deny rules and ports of names therefore apply
 * to every connection, until the DNS reply expires.
 */
#ifndef CORDON_BPF_HOSTS_BPF_H
#define CORDON_BPF_HOSTS_BPF_H

#include "bpf/core/internet.bpf.h"

#define DNS_PORT bpf_htons(53)

/* The key for the address in a START_NET key. */
static __always_inline void host_key(const struct label *label, const __u8 *name,
				     struct cordon_host_key *key)
{
	key->slot = label->slot;
	key->generation = label->generation;
	key->family = name[0];
	key->index = 0;
	if (name[0] == 4) {
		__builtin_memcpy(key->address, name + 2, 4);
	} else {
		__builtin_memcpy(key->address, name + 2, 16);
	}
}

static __always_inline const struct cordon_host *live_host(const struct cordon_host_key *key)
{
	const struct cordon_host *host = bpf_map_lookup_elem(&host_addresses, key);

	if (!host || host->expiry < bpf_ktime_get_boot_ns() ||
	    host->length > CORDON_HOST_QUESTION_SIZE - 3)
		return 0;
	return host;
}

/*
 * A run of the automaton over a host's key: the stored bytes with the protocol filled in, then the
 * port.
 */
struct host_run {
	const struct subject *s;
	const struct cordon_host *host;
	struct matcher matcher;
	__u32 state;
	__u16 port; /* network order */
	__u8 protocol;
};

/* Runs one byte at a time, so that the verifier checks this code once. */
static long run_host_byte(__u32 at, void *context)
{
	struct host_run *run = context;
	const struct subject *s = run->s;
	const struct cordon_host *host = run->host;
	struct tables tables = {.pages = s->pages, .first = s->policy};
	__u32 length = host->length;
	__u32 byte = host->question[at & (CORDON_HOST_QUESTION_SIZE - 1)];

	if (at >= length + 2 || (run->state & CORDON_ABSORBING))
		return 1;
	byte = at == 1 ? run->protocol : byte;
	byte = at == length ? run->port & 0xff : byte;
	byte = at == length + 1 ? run->port >> 8 : byte;
	run->state = matcher_step(&tables, &run->matcher, run->state, byte);
	return 0;
}

/*
 * Checks whether some name of this address may be connected to. On entry, no rule covers the
 * address itself. Stores the outcome.
 */
STUB int ask_names_of(struct policy_page *page, __u64 policy, __u64 label,
		      const struct net_question *question, struct answer *answer)
{
	return 0;
}

__noinline int ask_names_of_body(struct policy_page *page, __u64 policy, __u64 label,
				 const struct net_question *question, struct answer *answer)
{
	struct cordon_host_key key = {};
	struct host_run run = {};
	struct subject s;
	const __u8 *name;
	__u32 wanted = CORDON_RIGHT(CORDON_NET_CONNECT);

	if (!page || !question || !answer || !subject_again(&s, 0, 0, page, policy, label))
		return 0;
	name = (const __u8 *)question->words;
	run.s = &s;
	run.matcher.states_offset = s.policy->states_offset;
	run.matcher.states_count = s.policy->states_count;
	run.matcher.edges_offset = s.policy->edges_offset;
	run.matcher.edges_count = s.policy->edges_count;
	/* For names, echo requests over IPv4 and IPv6 have one protocol. */
	run.protocol = name[1] == IPPROTO_ICMPV6 ? IPPROTO_ICMP : name[1];
	run.port = name[0] == 4 ? *(const __u16 *)(name + 6) : *(const __u16 *)(name + 18);
	host_key(&s.label, name, &key);
	for (__u32 i = 0; i < CORDON_NAMES_PER_ADDRESS; i++) {
		const struct cordon_verdict *outcome;
		const struct cordon_final *final;

		key.index = i;
		run.host = live_host(&key);
		if (!run.host)
			continue;
		run.state = s.policy->start[CORDON_START_NET];
		bpf_loop(CORDON_HOST_QUESTION_SIZE, run_host_byte, &run, 0);
		if (!tables_outcome(&s, run.state, &outcome, &final))
			continue;
		if (!(wanted & ~(outcome->allow & ~outcome->deny))) {
			answer->missing = 0;
			return 0;
		}
		answer->rule = deciding_rule(outcome, wanted);
		if (answer->rule != CORDON_NO_RULE)
			answer->reason = CORDON_REASON_RULE;
	}
	return 0;
}

/* ask_hosts() for packet programs. */
static __always_inline void ask_hosts_of_packet(const struct subject *s,
						const __u64 words[NET_WORDS], struct answer *answer)
{
	ask_names_of_body((struct policy_page *)s->policy, s->policy_ref, subject_number(s),
			  (const struct net_question *)words, answer);
}

static __always_inline void ask_hosts(const struct subject *s, const __u64 words[NET_WORDS],
				      struct answer *answer)
{
	ask_names_of((struct policy_page *)s->policy, s->policy_ref, subject_number(s),
		     (const struct net_question *)words, answer);
}

/* Has the DNS proxy returned this address to the execution, whether or not it is allowed? */
static __noinline int is_answer(const struct subject *s, const __u64 *words)
{
	struct cordon_host_key key = {};

	host_key(&s->label, (const __u8 *)words, &key);
	for (__u32 i = 0; i < CORDON_NAMES_PER_ADDRESS; i++) {
		key.index = i;
		if (live_host(&key))
			return 1;
	}
	return 0;
}

/* True if no rule covers the address itself, but some rules cover names. */
static __always_inline bool may_be_host(const struct subject *s, const struct answer *answer)
{
	return answer->missing && answer->reason == CORDON_REASON_DEFAULT &&
	       (s->policy->flags & CORDON_POLICY_HOSTS);
}

#endif
