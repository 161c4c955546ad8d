/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The second check after the socket hooks: egress packets of the executions' sockets, whichever
 * call sent them. Also counts egress and ingress packets.
 *
 * Runs in softirq too, under an unrelated current: the sender is taken from the socket. Attached to
 * the cgroup above the cgroups of all executions.
 */
#ifndef CORDON_BPF_HOOK_PACKET_BPF_H
#define CORDON_BPF_HOOK_PACKET_BPF_H

#include "bpf/core/hosts.bpf.h"
#include "bpf/core/own_address.bpf.h"
#include "bpf/core/packet.bpf.h"
#include "bpf/core/traffic.bpf.h"

#define PACKET_DROP 0
#define PACKET_PASS 1

/* A run of the automaton that needs no scratch of a task. */
struct packet_run {
	struct tables tables;
	struct matcher matcher;
	__u32 state;
	__u32 at;
	__u32 length;
	__u8 bytes[32] __attribute__((aligned(8)));
};

#define PACKET_CHUNK 4u

static long run_packet_chunk(__u32 index, void *context)
{
	struct packet_run *run = context;
	struct tables tables = run->tables;
	struct matcher matcher = run->matcher;
	__u32 state = run->state, at = run->at;

	for (__u32 i = 0; i < PACKET_CHUNK; i++) {
		if (at >= run->length || (state & CORDON_ABSORBING))
			return 1;
		state = matcher_step(&tables, &matcher, state,
				     run->bytes[at & (sizeof(run->bytes) - 1)]);
		at++;
		run->state = state;
	}
	run->at = at;
	return 0;
}

/* Stores the outcome of `rights` on this name in *answer. */
__noinline int ask_of_packet(struct policy_page *page, __u64 policy, const struct packet_name *p,
			     __u32 rights, struct answer *answer)
{
	struct packet_run run = {};
	const struct cordon_verdict *outcome;
	const struct cordon_final *final;
	struct subject s;

	if (!page || !p || !answer || !subject_again(&s, 0, 0, page, policy, 0))
		return 0;
	run.tables.pages = s.pages;
	run.tables.first = s.policy;
	run.matcher.states_offset = s.policy->states_offset;
	run.matcher.states_count = s.policy->states_count;
	run.matcher.edges_offset = s.policy->edges_offset;
	run.matcher.edges_count = s.policy->edges_count;
	run.state = s.policy->start[CORDON_START_NET];
	run.length = p->length;
	__builtin_memcpy(run.bytes, p->bytes, sizeof(p->bytes));
	bpf_loop(sizeof(run.bytes) / PACKET_CHUNK, run_packet_chunk, &run, 0);
	if (!tables_outcome(&s, run.state, &outcome, &final)) {
		count(CORDON_COUNTER_BAD_TABLE);
		return 0;
	}
	answer->missing = rights & ~(outcome->allow & ~outcome->deny);
	answer->rule = deciding_rule(outcome, answer->missing);
	answer->reason = answer->rule == CORDON_NO_RULE ? CORDON_REASON_DEFAULT
							: CORDON_REASON_RULE;
	return 0;
}

/* If the check fails, all rights are missing. */
static __always_inline void ask_packet(const struct subject *s, const struct packet_name *p,
				       __u32 rights, struct answer *answer)
{
	answer_unnamed(answer, rights, CORDON_REASON_UNRESOLVED);
	ask_of_packet((struct policy_page *)s->policy, s->policy_ref, p, rights, answer);
}

static __noinline void report_packet(const struct subject *s, const struct internet_socket *socket,
				     const struct packet_name *p, const struct answer *answer)
{
	__u8 bytes[sizeof(struct cordon_denial_event) + sizeof(p->bytes)]
		__attribute__((aligned(8))) = {};
	struct cordon_denial_event *d = (struct cordon_denial_event *)bytes;
	__u64 now = bpf_ktime_get_boot_ns(), key;
	__u64 words[NET_WORDS];
	__u32 repeats;

	net_words(words, p->bytes, p->length);
	key = mix(mix(s->label.slot, s->label.generation), s->policy_ref);
	key = mix(key, (__u64)CORDON_OP_PACKET << 32 | answer->missing);
	key = mix(mix(mix(key, words[0]), words[1]), words[2]);
	if (coalesce(s->execution, key, now, &repeats) ||
	    !may_report_denial(s->execution, observes(s), answer->rule, answer->reason, now))
		return;
	d->event = socket->maker;
	fill_event(&d->event, &s->label, s->execution, CORDON_EVENT_DENIAL, sizeof(*d) + p->length,
		   now);
	d->operation = CORDON_OP_PACKET;
	d->rights = answer->missing;
	d->error = -EPERM;
	d->rule = answer->rule;
	d->reason = answer->reason;
	d->would = !!(s->policy->flags & CORDON_POLICY_OBSERVE);
	d->object_kind = CORDON_OBJECT_NET;
	d->object_flags = 0;
	d->object_length = p->length;
	d->object_total = p->length;
	d->repeats = repeats;
	__builtin_memcpy(d->object, p->bytes, sizeof(p->bytes));
	note_sent(s->execution,
		  bpf_ringbuf_output(&critical, d,
				     p->length == 20 ? sizeof(*d) + 20 : sizeof(*d) + 8, 0),
		  CORDON_COUNTER_CRITICAL_DROPPED);
}

static __always_inline int deny_packet(const struct subject *s,
				       const struct internet_socket *socket,
				       const struct packet_name *p, const struct answer *answer)
{
	bool would = s->policy->flags & CORDON_POLICY_OBSERVE;

	if (answer->reason == CORDON_REASON_UNRESOLVED) {
		count(CORDON_COUNTER_UNRESOLVED);
		__sync_fetch_and_add(&s->execution->unresolved, 1);
	}
	__sync_fetch_and_add(would ? &s->execution->would_denials : &s->execution->denials, 1);
	if (!would)
		__sync_fetch_and_add(&s->execution->packets_denied, 1);
	report_packet(s, socket, p, answer);
	return would ? PACKET_PASS : PACKET_DROP;
}

/* Denies the packet under any policy. */
static __noinline int refuse_packet(const struct subject *s, const struct internet_socket *socket,
				    const struct packet_name *p)
{
	struct answer answer = {.missing = CORDON_RIGHT(CORDON_NET_CONNECT),
				.rule = CORDON_NO_RULE,
				.reason = p->diverted ? CORDON_REASON_UNRESOLVED
						      : CORDON_REASON_BUILTIN};

	return deny_packet(s, socket, p, &answer);
}

/* Resolves the socket's execution and policy. False: the execution has ended. */
static __always_inline bool packet_subject(const struct internet_socket *socket,
					   struct cordon_execution *execution, struct subject *s)
{
	__u32 key, first = 0;

	s->walk = 0;
	s->spare = 0;
	s->label = socket->label;
	s->execution = execution;
	if (execution->generation != s->label.generation ||
	    execution->state == CORDON_EXECUTION_FREE)
		return false;
	s->policy_ref = *(volatile __u64 *)&execution->policy;
	key = CORDON_POLICY_SLOT(s->policy_ref);
	s->pages = bpf_map_lookup_elem(&policies, &key);
	if (!s->pages)
		return false;
	s->policy = bpf_map_lookup_elem(s->pages, &first);
	return s->policy && s->policy->magic == CORDON_POLICY_MAGIC;
}

enum remembered {
	REMEMBERED_NOTHING, /* no entry that matches */
	REMEMBERED_NAME,    /* allowed, under `policy` */
	REMEMBERED_OWN,	    /* the same, also as an address of the host itself */
	REMEMBERED_SERVICE, /* a connection that a client opened, allowed under `policy` */
};

static __always_inline enum remembered
recall_allowed(struct internet_socket *socket, const struct packet_name *p, __u64 *ret_policy)
{
	enum remembered found = REMEMBERED_NOTHING;
	__u64 words[NET_WORDS];

	net_words(words, p->bytes, p->length);
	bpf_spin_lock(&socket->lock);
	*ret_policy = socket->policy;
	if (socket->serves)
		found = REMEMBERED_SERVICE;
	else if (socket->policy && same_words(words, socket->name))
		found = socket->host ? REMEMBERED_OWN : REMEMBERED_NAME;
	bpf_spin_unlock(&socket->lock);
	return found;
}

/*
 * Looks for the peer instead, because the host may have translated the packet's address. For TCP,
 * the check then continues with the peer's address.
 */
static __noinline enum remembered recall_peer(const struct bpf_sock *sk,
					      struct internet_socket *socket, struct packet_name *p,
					      __u64 *ret_policy)
{
	struct packet_name peer = {};
	enum remembered found;

	if (!read_peer(sk, &peer))
		return REMEMBERED_NOTHING;
	found = recall_allowed(socket, &peer, ret_policy);
	if (sk->protocol == IPPROTO_TCP)
		*p = peer;
	return found;
}

/*
 * Checks a connect. `home`: the packet leads to the host itself, for which names and wide address
 * blocks give no right.
 */
static __always_inline void ask_packet_connect(const struct subject *s, const struct packet_name *p,
					       bool home, struct answer *answer)
{
	__u32 rights = CORDON_RIGHT(CORDON_NET_CONNECT);
	__u64 words[NET_WORDS];

	if (home)
		rights |= CORDON_RIGHT(CORDON_NET_HOST);
	ask_packet(s, p, rights, answer);
	if (answer->missing == CORDON_RIGHT(CORDON_NET_HOST))
		answer->reason = CORDON_REASON_HOST;
	if (answer->missing)
		answer->missing = CORDON_RIGHT(CORDON_NET_CONNECT);
	if (home || !may_be_host(s, answer))
		return;
	net_words(words, p->bytes, p->length);
	ask_hosts_of_packet(s, words, answer);
}

/*
 * Called if the policy has changed, no destination was checked yet, or it was not checked as an
 * address of the host.
 */
static __noinline int judge_packet(struct internet_socket *socket, const struct subject *s,
				   struct packet_name *p, __u32 serves, __u32 home)
{
	struct answer answer = {};
	__u64 words[NET_WORDS], policy = s->policy_ref;

	if (serves) {
		__builtin_memcpy(p->bytes, socket->name, sizeof(p->bytes));
		p->length = p->bytes[0] == 6 ? 20 : 8;
		ask_packet(s, p, CORDON_RIGHT(CORDON_NET_LISTEN), &answer);
	} else {
		ask_packet_connect(s, p, home, &answer);
	}
	if (answer.missing)
		return deny_packet(s, socket, p, &answer);
	net_words(words, p->bytes, p->length);
	bpf_spin_lock(&socket->lock);
	/* Unless a socket hook has recorded another destination meanwhile. */
	if (socket->serves == serves) {
		socket->policy = policy;
		socket->host = home;
		socket->name[0] = words[0];
		socket->name[1] = words[1];
		socket->name[2] = words[2];
	}
	bpf_spin_unlock(&socket->lock);
	return PACKET_PASS;
}

static __noinline int note_stub_client(struct __sk_buff *skb, const struct internet_socket *socket,
				       const struct packet_name *p)
{
	struct cordon_stub_client_key key = {.family = p->bytes[0], .protocol = p->protocol};
	struct cordon_stub_client client = {.time = bpf_ktime_get_boot_ns()};
	const struct cordon_stub_client *known;
	bool v4 = key.family == 4;

	if (bpf_skb_load_bytes(skb, v4 ? 20 : 40, &key.port, 2) ||
	    (v4 ? bpf_skb_load_bytes(skb, 12, key.address, 4)
		: bpf_skb_load_bytes(skb, 8, key.address, 16))) {
		count(CORDON_COUNTER_DNS_UNSERVED);
		return PACKET_DROP;
	}
	client.maker = socket->maker;
	client.maker.slot = socket->label.slot;
	client.maker.generation = socket->label.generation;
	/*
	 * Keep the time since which the port belongs to this execution. The DNS proxy ignores
	 * packets that are older.
	 */
	known = bpf_map_lookup_elem(&stub_clients, &key);
	if (known && known->maker.slot == client.maker.slot &&
	    known->maker.generation == client.maker.generation)
		client.time = known->time;
	if (!bpf_map_update_elem(&stub_clients, &key, &client, BPF_ANY))
		return PACKET_PASS;
	count(CORDON_COUNTER_DNS_UNSERVED);
	return PACKET_DROP;
}

/*
 * Records the client of the DNS proxy. A raw socket is denied, because it can forge the source of a
 * query, and so is an execution without rules for host names.
 */
static __always_inline int ask_stub(struct __sk_buff *skb, const struct bpf_sock *sk,
				    const struct internet_socket *socket, const struct subject *s,
				    const struct packet_name *p)
{
	if (sk->type != SOCK_RAW && (s->policy->flags & CORDON_POLICY_HOSTS))
		return note_stub_client(skb, socket, p);
	return refuse_packet(s, socket, p);
}

/* Drops a packet of an ended execution to a new destination. */
static __always_inline int drop_late_packet(void)
{
	count(CORDON_COUNTER_UNKNOWN_EXECUTION);
	return PACKET_DROP;
}

static __always_inline int decide_packet(struct __sk_buff *skb, const struct bpf_sock *sk,
					 struct internet_socket *socket,
					 struct cordon_execution *execution)
{
	struct packet_name p = {};
	struct subject s = {};
	enum remembered found;
	__u64 policy;
	bool alive = packet_subject(socket, execution, &s), home;

	read_packet(skb, &p);
	if (p.diverted)
		return alive ? refuse_packet(&s, socket, &p) : drop_late_packet();
	/* The host makes IPsec packets from packets that were checked. */
	if (sk->type != SOCK_RAW && (p.protocol == IPPROTO_ESP || p.protocol == IPPROTO_AH))
		return PACKET_PASS;
	home = packet_leads_home(skb);
	found = recall_allowed(socket, &p, &policy);
	if (found == REMEMBERED_NOTHING && sk->type != SOCK_RAW) {
		found = recall_peer(sk, socket, &p, &policy);
		/* The destination was checked before the host translated it. */
		if (found != REMEMBERED_NOTHING)
			home = socket_leads_home(skb, p.length == 8);
	}
	/* Packets to checked destinations are still sent after the execution ends. */
	if (!alive)
		return found == REMEMBERED_NOTHING ? drop_late_packet() : PACKET_PASS;
	if (is_stub(&p))
		return ask_stub(skb, sk, socket, &s, &p);
	if (policy == s.policy_ref && (found == REMEMBERED_SERVICE || found == REMEMBERED_OWN ||
				       (found == REMEMBERED_NAME && !home)))
		return PACKET_PASS;
	return judge_packet(socket, &s, &p, found == REMEMBERED_SERVICE, home);
}

static __always_inline struct internet_socket *socket_of_packet(struct __sk_buff *skb,
								struct bpf_sock **ret_sk)
{
	struct bpf_sock *sk = skb->sk;

	if (!sk)
		return 0;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return 0;
	*ret_sk = sk;
	return bpf_sk_storage_get(&internet_sockets, sk, 0, 0);
}

/* Packets after the execution's end are not counted. */
static __always_inline bool is_counted(const struct cordon_execution *execution,
				       const struct internet_socket *socket)
{
	return execution->generation == socket->label.generation &&
	       execution->state != CORDON_EXECUTION_FREE;
}

SEC("cgroup_skb/egress")
int cordon_egress(struct __sk_buff *skb)
{
	struct cordon_execution *execution;
	struct internet_socket *socket;
	struct bpf_sock *sk = 0;
	__u32 key;

	socket = socket_of_packet(skb, &sk);
	if (!socket) {
		/*
		 * Sent by a task without a label in the cgroup, or by the kernel on a task's
		 * behalf.
		 */
		count(CORDON_COUNTER_PACKET_UNOWNED);
		return PACKET_DROP;
	}
	key = socket->label.slot;
	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || decide_packet(skb, sk, socket, execution) == PACKET_DROP)
		return PACKET_DROP;
	if (is_counted(execution, socket)) {
		__sync_fetch_and_add(&execution->bytes_sent, skb->len);
		__sync_fetch_and_add(&execution->packets_sent, 1);
		count_traffic(skb, sk, socket, execution, true);
	}
	return PACKET_PASS;
}

SEC("cgroup_skb/ingress")
int cordon_ingress(struct __sk_buff *skb)
{
	struct cordon_execution *execution;
	struct internet_socket *socket;
	struct bpf_sock *sk = 0;
	__u32 key;

	socket = socket_of_packet(skb, &sk);
	if (!socket)
		return PACKET_PASS;
	key = socket->label.slot;
	execution = bpf_map_lookup_elem(&executions, &key);
	if (execution && is_counted(execution, socket)) {
		__sync_fetch_and_add(&execution->bytes_received, skb->len);
		__sync_fetch_and_add(&execution->packets_received, 1);
		count_traffic(skb, sk, socket, execution, false);
	}
	return PACKET_PASS;
}

#endif
