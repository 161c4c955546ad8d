/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The destination of a packet or of a connected socket, as a key for the policy. */
#ifndef CORDON_BPF_PACKET_BPF_H
#define CORDON_BPF_PACKET_BPF_H

#include "bpf/core/internet.bpf.h"

/* Header fields as in a packet, in network order. */
struct packet_v4 {
	__u8 version_length;
	__u8 service;
	__u16 total;
	__u16 id;
	__u16 fragment;
	__u8 lifetime;
	__u8 protocol;
	__u16 checksum;
	__u32 source;
	__u32 destination;
	__u16 source_port;
	__u16 destination_port;
};

struct packet_v6 {
	__u32 version_flow;
	__u16 length;
	__u8 next;
	__u8 hops;
	__u32 source[4];
	__u32 destination[4];
	__u16 source_port;
	__u16 destination_port;
};

/* A START_NET key, followed by unused bytes. */
struct packet_name {
	__u8 bytes[24] __attribute__((aligned(8)));
	__u32 length;
	__u16 reserved;
	__u8 protocol;
	__u8 diverted; /* a source route diverts it, or the ports are not known */
};

/* Protocols with the destination port in their second 16 bits; others are checked with port 0. */
static __always_inline bool has_ports(__u32 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP;
}

static __always_inline void spell_v4(struct packet_name *p, __u32 protocol, __u32 address,
				     __u16 port)
{
	p->bytes[0] = 4;
	p->bytes[1] = protocol;
	*(__u16 *)(p->bytes + 2) = address;
	*(__u16 *)(p->bytes + 4) = address >> 16;
	*(__u16 *)(p->bytes + 6) = has_ports(protocol) ? port : 0;
	p->length = 8;
	p->protocol = protocol;
}

static __always_inline void spell_v6(struct packet_name *p, __u32 protocol, const __u32 *address,
				     __u16 port)
{
	p->bytes[0] = 6;
	p->bytes[1] = protocol;
	for (int i = 0; i < 4; i++) {
		*(__u16 *)(p->bytes + 2 + 4 * i) = address[i];
		*(__u16 *)(p->bytes + 4 + 4 * i) = address[i] >> 16;
	}
	*(__u16 *)(p->bytes + 18) = has_ports(protocol) ? port : 0;
	p->length = 20;
	p->protocol = protocol;
}

#define IPOPT_MAX 40u

/* Loose and strict source routes: RFC 791, section 3.1. Unreadable options count as one. */
static __noinline bool has_source_route(struct __sk_buff *skb, __u32 end)
{
	__u32 at = 20;
	__u8 option[2] = {};

	for (__u32 i = 0; i < IPOPT_MAX; i++) {
		if (at >= end)
			return false;
		if (bpf_skb_load_bytes(skb, at, option, 1))
			return true;
		if (option[0] == IPOPT_END)
			return false;
		if (option[0] == IPOPT_NOOP) {
			at++;
			continue;
		}
		if (option[0] == IPOPT_LSRR || option[0] == IPOPT_SSRR ||
		    bpf_skb_load_bytes(skb, at, option, 2) || option[1] < 2)
			return true;
		at += option[1];
	}
	return true;
}

/* For packets with options, fragments, and packets that are not contiguous in memory. */
__noinline int read_odd_v4(struct __sk_buff *skb, struct packet_name *p)
{
	struct packet_v4 ip = {};
	__u32 end;

	if (!p)
		return 0;
	p->diverted = true;
	if (bpf_skb_load_bytes(skb, 0, &ip, 20))
		return 0;
	end = (ip.version_length & 15) * 4u;
	(void)bpf_skb_load_bytes(skb, end, &ip.source_port, 4);
	spell_v4(p, ip.protocol, ip.destination, ip.destination_port);
	p->diverted = (ip.fragment & bpf_htons(0x1fff)) || end < 20 ||
		      (end > 20 && has_source_route(skb, end));
	return 0;
}

#define EXTENSIONS_MAX 4

__noinline int read_odd_v6(struct __sk_buff *skb, struct packet_name *p)
{
	struct packet_v6 ip = {};
	__u32 at = 40, next;
	__u8 extension[2] = {};

	if (!p)
		return 0;
	p->diverted = true;
	if (bpf_skb_load_bytes(skb, 0, &ip, 40))
		return 0;
	next = ip.next;
	for (int i = 0; i < EXTENSIONS_MAX; i++) {
		if (next != IPPROTO_HOPOPTS && next != IPPROTO_DSTOPTS)
			break;
		if (bpf_skb_load_bytes(skb, at, extension, 2))
			return 0;
		next = extension[0];
		at += (extension[1] + 1u) * 8;
	}
	(void)bpf_skb_load_bytes(skb, at, &ip.source_port, 4);
	spell_v6(p, next, ip.destination, ip.destination_port);
	p->diverted = next == IPPROTO_ROUTING || next == IPPROTO_FRAGMENT ||
		      next == IPPROTO_HOPOPTS || next == IPPROTO_DSTOPTS;
	return 0;
}

static __always_inline void read_packet(struct __sk_buff *skb, struct packet_name *p)
{
	void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
	const struct packet_v4 *v4 = data;
	const struct packet_v6 *v6 = data;

	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		if (data + sizeof(*v4) <= end && v4->version_length == 0x45 &&
		    !(v4->fragment & bpf_htons(0x1fff)))
			spell_v4(p, v4->protocol, v4->destination, v4->destination_port);
		else
			read_odd_v4(skb, p);
	} else if (data + sizeof(*v6) <= end &&
		   (has_ports(v6->next) || v6->next == IPPROTO_ICMPV6)) {
		spell_v6(p, v6->next, v6->destination, v6->destination_port);
	} else {
		read_odd_v6(skb, p);
	}
}

/* The destination of a connected socket, before the host translates it. False: not connected. */
static __always_inline bool read_peer(const struct bpf_sock *sk, struct packet_name *p)
{
	__u32 address[4] = {sk->dst_ip6[0], sk->dst_ip6[1], sk->dst_ip6[2], sk->dst_ip6[3]};
	__u32 protocol = sk->protocol & 0xff;

	if (!sk->dst_port)
		return false;
	if (sk->family == AF_INET)
		spell_v4(p, protocol, sk->dst_ip4, sk->dst_port);
	else if (!address[0] && !address[1] && address[2] == bpf_htonl(0xffff))
		spell_v4(p, protocol, address[3], sk->dst_port);
	else
		spell_v6(p, protocol, address, sk->dst_port);
	return true;
}

/* Is the DNS proxy the destination, redirected or not? The proxy applies the client's policy. */
static __always_inline bool is_stub(const struct packet_name *p)
{
	const __u32 *words = (const __u32 *)p->bytes;
	const struct cordon_stub *ports;
	bool v4 = p->length == 8;
	__u32 key = 0;

	/* Family, protocol, 127.0.0.1 or ::1, port: 16 bits each, except the first two. */
	if (v4 ? (words[0] >> 16) != bpf_htons(0x7f00) || (words[1] & 0xffff) != bpf_htons(1)
	       : (words[0] >> 16) || words[1] || words[2] || words[3] ||
			    (words[4] & 0xffff) != bpf_htons(1))
		return false;
	ports = bpf_map_lookup_elem(&stub, &key);
	if (!ports || !has_ports(p->protocol))
		return false;
	return v4 ? ports->port_v4 && words[1] >> 16 == ports->port_v4
		  : ports->port_v6 && words[4] >> 16 == ports->port_v6;
}

#endif
