/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Is an address the host's own, or everybody's on a link? Then it leads to services that were never
 * meant for strangers, as loopback does, and a rule has to name it (CORDON_NET_HOST).
 *
 * Calls that name an address are answered by the addresses of the network namespace's devices. What
 * a packet's route says is exact, and decides at last; but it is known only when the call has
 * returned, of TCP.
 */
#ifndef CORDON_BPF_OWN_ADDRESS_BPF_H
#define CORDON_BPF_OWN_ADDRESS_BPF_H

#include "bpf/core/internet.bpf.h"

/*
 * Devices and addresses of a network namespace that are looked at; with more, an address counts as
 * the host's.
 */
#define OWN_ADDRESS_STEPS 16384u

struct own_search {
	__u64 devices; /* the list's head */
	__u64 device;  /* where it stands in that list */
	__u64 item;    /* and in the list of the device's addresses; 0: at its end */
	__u64 items;   /* that list's head, of IPv6 */
	__u64 wanted[2];
	bool v6;
	bool other; /* the list is over: it is another's */
};

static __always_inline __u64 first_address(struct own_search *search, __u64 device)
{
	__u64 of_protocol, first;

	if (!search->v6) {
		of_protocol = read_u64(FIELD(struct net_device, device, ip_ptr));
		return of_protocol ? read_u64(FIELD(struct in_device, of_protocol, ifa_list)) : 0;
	}
	of_protocol = read_u64(FIELD(struct net_device, device, ip6_ptr));
	if (!of_protocol)
		return 0;
	search->items = FIELD(struct inet6_dev, of_protocol, addr_list);
	first = read_u64(search->items);
	return first == search->items ? 0 : first;
}

static __always_inline bool is_wanted(const struct own_search *search)
{
	__u64 item = search->item;

	if (!search->v6)
		return read_u32(FIELD(struct in_ifaddr, item, ifa_local)) == search->wanted[0] ||
		       read_u32(FIELD(struct in_ifaddr, item, ifa_broadcast)) == search->wanted[0];
	item -= bpf_core_field_offset(struct inet6_ifaddr, if_list);
	item = FIELD(struct inet6_ifaddr, item, addr);
	return read_u64(item) == search->wanted[0] && read_u64(item + 8) == search->wanted[1];
}

/* One device or one address further; 1: the answer is known. */
static long search_step(__u32 index, void *context)
{
	struct own_search *search = context;
	__u64 next;

	if (search->item) {
		if (is_wanted(search))
			return 1;
		if (search->v6) {
			next = read_u64(search->item);
			search->item = next == search->items ? 0 : next;
		} else {
			search->item = read_u64(FIELD(struct in_ifaddr, search->item, ifa_next));
		}
		return 0;
	}
	next = read_u64(search->device);
	search->device = next;
	if (next == search->devices) {
		search->other = true;
		return 1;
	}
	/* A device that is leaving for another namespace: its list never comes back here. */
	if (!next)
		return 1;
	search->item =
		first_address(search, next - bpf_core_field_offset(struct net_device, dev_list));
	return 0;
}

/* Of the START_NET question that stands in walk->name. */
STUB int is_among_addresses(struct walk *walk, __u64 devices)
{
	return 1;
}

__noinline int is_among_addresses_body(struct walk *walk, __u64 devices)
{
	struct own_search search = {.devices = devices};
	const __u8 *name;

	if (!walk)
		return 1;
	name = walk->name;
	search.v6 = name[0] == 6;
	if (search.v6) {
		__builtin_memcpy(search.wanted, name + 2, 16);
	} else {
		__u32 address;

		__builtin_memcpy(&address, name + 2, 4);
		search.wanted[0] = address;
	}
	/*
	 * Begun outside the loop: before Linux 6.7 the verifier follows its body once, with what is
	 * known at its first turn, and takes out what cannot be reached in that. From zeros it
	 * would look at no address.
	 */
	search.device = read_u64(search.devices);
	if (search.device == search.devices)
		return 0;
	search.item = first_address(
		&search, search.device - bpf_core_field_offset(struct net_device, dev_list));
	bpf_loop(OWN_ADDRESS_STEPS, search_step, &search, 0);
	return !search.other;
}

static __always_inline bool is_own_address(struct walk *walk, struct sock *sk)
{
	return is_among_addresses(
		walk, FIELD(struct net, BPF_CORE_READ(sk, __sk_common.skc_net.net), dev_base_head));
}

/*
 * After NET_CONNECT and NET_HOST were asked together: the answer to NET_CONNECT alone. `later`: the
 * packet will show where it goes.
 */
static __always_inline void settle_host(struct subject *s, struct sock *sk, bool later)
{
	struct answer *answer = &s->walk->answer;

	if (answer->missing & CORDON_RIGHT(CORDON_NET_CONNECT)) {
		answer->missing = CORDON_RIGHT(CORDON_NET_CONNECT);
	} else if (answer->missing) {
		answer->missing = 0;
		if (!later && is_own_address(s->walk, sk)) {
			answer->missing = CORDON_RIGHT(CORDON_NET_CONNECT);
			answer->reason = CORDON_REASON_HOST;
		}
	}
}

/* include/net/dst.h, uapi/linux/in_route.h, uapi/linux/ipv6_route.h */
#define SKB_DST_NOREF  1ul
#define RTCF_BROADCAST 0x10000000u
#define RTCF_LOCAL     0x80000000u
#define RTF_ANYCAST    0x00100000u
#define RTF_LOCAL      0x80000000u
/* include/net/flow.h */
#define LOOPBACK_IFINDEX 1

static __always_inline bool leads_home(__u64 route, bool v4)
{
	if (!route)
		return true;
	return v4 ? read_u32(FIELD(struct rtable, route, rt_flags)) & (RTCF_LOCAL | RTCF_BROADCAST)
		  : read_u32(FIELD(struct rt6_info, route, rt6i_flags)) & (RTF_LOCAL | RTF_ANYCAST);
}

/* The context of a packet program is the kernel's struct itself. */
static __always_inline __u64 field_of_packet(const struct __sk_buff *skb, __u32 offset)
{
	__u64 value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof(value), (const void *)skb + offset);
	return value;
}

/* By the route that the packet has, which follows what the host has made of its destination. */
static __always_inline bool packet_leads_home(struct __sk_buff *skb)
{
	__u64 route;

	if (skb->ifindex == LOOPBACK_IFINDEX)
		return true;
	route = field_of_packet(skb, bpf_core_field_offset(struct sk_buff, _skb_refdst));
	return leads_home(route & ~SKB_DST_NOREF, skb->protocol == bpf_htons(ETH_P_IP));
}

/* By the route that its connected socket has, before the host translates the address. */
static __always_inline bool socket_leads_home(const struct __sk_buff *skb, bool v4)
{
	__u64 sk = field_of_packet(skb, bpf_core_field_offset(struct sk_buff, sk));

	return leads_home(read_u64(FIELD(struct sock, sk, sk_dst_cache)), v4);
}

#endif
