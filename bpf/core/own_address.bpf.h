/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Restricted addresses: is an address the host's own, or received by all hosts of a link? It may
 * then lead to services that are not meant for other programs, as loopback does. A rule must name
 * it (CORDON_NET_HOST).
 *
 * A call that names an address is checked with the addresses of the network namespace's devices.
 * The route of a packet is exact and decides finally, but for TCP it is known only after the call.
 */
#ifndef CORDON_BPF_OWN_ADDRESS_BPF_H
#define CORDON_BPF_OWN_ADDRESS_BPF_H

#include "bpf/core/internet.bpf.h"

/*
 * Devices and addresses examined in a network namespace. If there are more, the address counts as
 * the host's.
 */
#define OWN_ADDRESS_STEPS 16384u

struct own_search {
	__u64 devices; /* head of the list of devices */
	__u64 device;  /* current device in that list */
	__u64 item;    /* current entry in the list of the device's addresses; 0: at its end */
	__u64 items;   /* head of that list, for IPv6 */
	__u64 wanted[2];
	bool v6;
	bool other; /* all were examined: it is another host's */
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

/* Advances by one device or one address. Returns 1 if the result is known. */
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
	/* The device is being moved to another namespace: its list does not return to this head. */
	if (!next)
		return 1;
	search->item =
		first_address(search, next - bpf_core_field_offset(struct net_device, dev_list));
	return 0;
}

/* Checks the address of the START_NET key in walk->name. */
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
	 * The first device is read outside the loop. Before Linux 6.7, the verifier checks the loop
	 * body once, with the values of the first iteration, and removes code that is unreachable
	 * with them. If the fields were zero, it would remove the reads of addresses.
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
 * Reduces a check of NET_CONNECT with NET_HOST to the result for NET_CONNECT. `later`: the packet's
 * route will be checked.
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

/* The context of a packet program is the kernel's struct sk_buff itself. */
static __always_inline __u64 field_of_packet(const struct __sk_buff *skb, __u32 offset)
{
	__u64 value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof(value), (const void *)skb + offset);
	return value;
}

/* By the packet's route, which includes address translation by the host. */
static __always_inline bool packet_leads_home(struct __sk_buff *skb)
{
	__u64 route;

	if (skb->ifindex == LOOPBACK_IFINDEX)
		return true;
	route = field_of_packet(skb, bpf_core_field_offset(struct sk_buff, _skb_refdst));
	return leads_home(route & ~SKB_DST_NOREF, skb->protocol == bpf_htons(ETH_P_IP));
}

/* By the route of the packet's connected socket, before the host translates the address. */
static __always_inline bool socket_leads_home(const struct __sk_buff *skb, bool v4)
{
	__u64 sk = field_of_packet(skb, bpf_core_field_offset(struct sk_buff, sk));

	return leads_home(read_u64(FIELD(struct sock, sk, sk_dst_cache)), v4);
}

#endif
