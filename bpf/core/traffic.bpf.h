/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Traffic of an execution by destination, for its end record. No verdict depends on it. A
 * destination without an entry here is counted only in the execution's total.
 *
 * Counted where packets are checked, so that every protocol and call is covered. At the end,
 * sockets may already be closed.
 */
#ifndef CORDON_BPF_TRAFFIC_BPF_H
#define CORDON_BPF_TRAFFIC_BPF_H

#include "bpf/core/hosts.bpf.h"
#include "bpf/core/packet.bpf.h"

/* The daemon removes the entries of an execution when its slot becomes free. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CORDON_MAX_TRAFFIC);
	__type(key, struct cordon_traffic_key);
	__type(value, struct cordon_traffic);
} traffic SEC(".maps");

/* Entries examined for one destination. */
#define TRAFFIC_PROBES 4u

/* Reads the source of an ingress packet. */
static __always_inline void read_source(struct __sk_buff *skb, __u32 protocol,
					struct packet_name *p)
{
	__u32 words[4] = {}, at = 40;
	__u16 port = 0;
	__u8 first = 0;

	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(skb, 0, &first, 1) ||
		    bpf_skb_load_bytes(skb, 12, words, sizeof(words[0])))
			return;
		at = (first & 15) * 4u;
	} else if (bpf_skb_load_bytes(skb, 6, &first, 1) ||
		   bpf_skb_load_bytes(skb, 8, words, sizeof(words))) {
		return;
	} else if (first != protocol) {
		at = 0;
	}
	if (at && has_ports(protocol))
		(void)bpf_skb_load_bytes(skb, at, &port, sizeof(port));
	if (skb->protocol == bpf_htons(ETH_P_IP))
		spell_v4(p, protocol, words[0], port);
	else
		spell_v6(p, protocol, words, port);
}

/* The remote end as the program named it, before the host translates the address. */
static __always_inline void name_other_end(struct __sk_buff *skb, const struct bpf_sock *sk,
					   bool sent, struct packet_name *p)
{
	if (sk->type != SOCK_RAW && read_peer(sk, p))
		return;
	if (sent)
		read_packet(skb, p);
	else
		read_source(skb, sk->protocol & 0xff, p);
}

/* DNS that was redirected to the DNS proxy is counted for its original destination. */
static __always_inline void name_server(const struct internet_socket *socket, struct packet_name *p)
{
	__u32 protocol = p->protocol;

	__builtin_memset(p->bytes, 0, sizeof(p->bytes));
	if (socket->server_family == AF_INET)
		spell_v4(p, protocol, socket->server[0], DNS_PORT);
	else
		spell_v6(p, protocol, socket->server, DNS_PORT);
}

static __always_inline void spell_port(struct packet_name *p, __u16 port)
{
	if (p->length == 8)
		*(__u16 *)(p->bytes + 6) = port;
	else
		*(__u16 *)(p->bytes + 18) = port;
}

static __always_inline struct cordon_traffic *make_traffic(struct cordon_execution *execution,
							   const struct cordon_traffic_key *key,
							   const struct cordon_traffic *fresh,
							   bool stale)
{
	if (!bpf_map_update_elem(&traffic, key, fresh, stale ? BPF_ANY : BPF_NOEXIST))
		__sync_fetch_and_add(&execution->destinations, 1);
	return bpf_map_lookup_elem(&traffic, key);
}

/* Returns NULL if there is no room for another destination. */
static __noinline struct cordon_traffic *
find_traffic(struct cordon_execution *execution, __u32 slot, const struct cordon_traffic *wanted)
{
	__u64 hash =
		mix(mix(mix(wanted->served, wanted->name[0]), wanted->name[1]), wanted->name[2]);
	struct cordon_traffic_key key = {.slot = slot};

	for (__u32 i = 0; i < TRAFFIC_PROBES; i++) {
		struct cordon_traffic *found;

		key.index = (hash + i) & (CORDON_MAX_DESTINATIONS - 1);
		found = bpf_map_lookup_elem(&traffic, &key);
		if (!found || found->generation != wanted->generation)
			found = make_traffic(execution, &key, wanted, found != 0);
		if (!found)
			return 0;
		if (found->generation == wanted->generation && found->served == wanted->served &&
		    same_words(found->name, wanted->name))
			return found;
	}
	return 0;
}

/* An accepted socket counts as a connection, its listening socket does not. */
static __always_inline bool is_new_connection(const struct bpf_sock *sk,
					      struct internet_socket *socket, __u64 which)
{
	if ((sk->protocol & 0xff) != IPPROTO_TCP || sk->state == BPF_TCP_LISTEN ||
	    socket->counted == which)
		return false;
	socket->counted = which;
	return true;
}

static __noinline int count_traffic(struct __sk_buff *skb, const struct bpf_sock *sk,
				    struct internet_socket *socket,
				    struct cordon_execution *execution, bool sent)
{
	struct cordon_traffic wanted = {.generation = socket->label.generation};
	struct cordon_traffic *found;
	struct packet_name p = {};

	name_other_end(skb, sk, sent, &p);
	if (!p.length)
		return 0;
	/* Count by the execution's port: the client's port is arbitrary. */
	wanted.served = socket->serves;
	if (wanted.served)
		spell_port(&p, bpf_htons(sk->src_port));
	else if (socket->server_family && is_stub(&p))
		name_server(socket, &p);
	net_words(wanted.name, p.bytes, p.length);
	found = find_traffic(execution, socket->label.slot, &wanted);
	if (!found)
		return 0;
	if (sent) {
		__sync_fetch_and_add(&found->bytes_sent, skb->len);
		__sync_fetch_and_add(&found->packets_sent, 1);
		if (is_new_connection(sk, socket,
				      mix(mix(wanted.name[0], wanted.name[1]), wanted.name[2]) | 1))
			__sync_fetch_and_add(&found->connections, 1);
	} else {
		__sync_fetch_and_add(&found->bytes_received, skb->len);
		__sync_fetch_and_add(&found->packets_received, 1);
	}
	return 0;
}

#endif
