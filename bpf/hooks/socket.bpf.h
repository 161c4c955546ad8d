/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Making sockets, and naming internet addresses with them. */
#ifndef CORDON_BPF_HOOK_SOCKET_BPF_H
#define CORDON_BPF_HOOK_SOCKET_BPF_H

#include "bpf/core/hosts.bpf.h"
#include "bpf/core/own_address.bpf.h"
#include "bpf/core/waiting.bpf.h"
#include "bpf/pure/own_host.h"

/* What a socket is asked as: protocol 0 means the family's usual one. */
static __always_inline __u32 usual_protocol(__u32 family, __u32 type, __u32 protocol)
{
	if (protocol || (family != AF_INET && family != AF_INET6))
		return protocol;
	if (type == SOCK_STREAM)
		return IPPROTO_TCP;
	if (type == SOCK_DGRAM)
		return IPPROTO_UDP;
	return 0;
}

static __always_inline int decide_kind(struct subject *s, __u32 operation, __u32 family, __u32 type,
				       __u32 protocol)
{
	struct object object = {.kind = CORDON_OBJECT_SOCKET, .length = 4};
	__u32 usual = usual_protocol(family, type, protocol);
	__u8 *name;

	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	name = s->walk->name;
	name[0] = family;
	name[1] = type;
	name[2] = usual >> 8;
	name[3] = usual;
	ask_again(s, CORDON_START_SOCKET, 4, CORDON_RIGHT(CORDON_SOCKET));
	return decide_answered(s, operation, &object, short_identity(s, 4), -EACCES);
}

SEC("lsm/socket_create")
int BPF_PROG(cordon_socket_create, int family, int type, int protocol, int kern, int ret)
{
	struct subject s;

	if (ret || kern)
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s,
		     decide_kind(&s, CORDON_OP_SOCKET, family, type & SOCK_TYPE_MASK, protocol));
}

/* Room for both families' addresses, as they stand in memory. */
union address {
	__u16 family;
	struct {
		__u16 family;
		__u8 port[2];
		__u8 ip[4];
	} v4;
	struct {
		__u16 family;
		__u8 port[2];
		__u32 flow;
		__u8 ip[16];
	} v6;
};

static __always_inline bool is_mapped(const __u8 *ip)
{
	const __u32 *words = (const __u32 *)ip;

	return !words[0] && !words[1] && words[2] == bpf_htonl(0xffff);
}

/*
 * Writes family, protocol, address and port to walk->name. IPv4 in IPv6's clothes is asked as
 * IPv4, for that is what the packets will be. Returns the length.
 */
static __always_inline __u32 spell_address(__u8 *name, bool v6, __u32 protocol,
					   const union address *address)
{
	name[1] = protocol;
	if (v6 && !is_mapped(address->v6.ip)) {
		name[0] = 6;
		__builtin_memcpy(name + 2, address->v6.ip, 16);
		name[18] = address->v6.port[0];
		name[19] = address->v6.port[1];
		return 20;
	}
	name[0] = 4;
	__builtin_memcpy(name + 2, v6 ? address->v6.ip + 12 : address->v4.ip, 4);
	name[6] = address->v4.port[0];
	name[7] = address->v4.port[1];
	return 8;
}

/* One question about an address that a socket is to be used with. */
struct use {
	__u64 address;
	__u32 length;
	__u32 operation;
	__u32 right;
	__u32 family; /* of the socket */
	__u32 protocol;
	bool may_dissolve; /* AF_UNSPEC ends an association instead of naming an address */
};

/* What an address that no rule speaks of is to an execution that may connect to names. */
enum stands_for {
	STANDS_FOR_NOTHING,
	STANDS_FOR_NAME, /* an answer of the stub, and may be connected to */
	STANDS_FOR_STUB, /* a DNS server: cordon's programs at the cgroup lead to the stub instead */
	STANDS_FOR_ROUTE, /* resolvers connect datagram sockets to see which addresses have a route */
};

static __always_inline enum stands_for ask_names(struct subject *s, struct sock *sk,
						 const struct use *use, __u32 spelled)
{
	struct internet_socket *own;
	__u64 words[NET_WORDS];
	__u8 *name = (__u8 *)words;
	__u16 port;

	net_words(words, s->walk->name, spelled);
	ask_hosts(s, words, &s->walk->answer);
	if (!s->walk->answer.missing)
		return STANDS_FOR_NAME;
	/* What follows rests on the programs at the cgroup. */
	own = bpf_sk_storage_get(&internet_sockets, sk, 0, 0);
	if (!own || !same_label(&own->label, &s->label) || !is_in_cgroup(sk))
		return STANDS_FOR_NOTHING;
	port = spelled == 8 ? *(__u16 *)(name + 6) : *(__u16 *)(name + 18);
	if (port == DNS_PORT && (name[1] == IPPROTO_UDP || name[1] == IPPROTO_TCP))
		return STANDS_FOR_STUB;
	/* Nothing is sent by that, and what would be is judged again. */
	if (name[1] == IPPROTO_UDP && use->operation == CORDON_OP_CONNECT && is_answer(s, words))
		return STANDS_FOR_ROUTE;
	return STANDS_FOR_NOTHING;
}

/*
 * Datagrams of a socket whose packets are judged need not be asked twice where they go; a call that
 * connects should say at once that it leads to the host.
 */
static __always_inline bool is_judged_later(struct sock *sk, const struct use *use)
{
	return use->operation == CORDON_OP_SEND && sk->sk_type != SOCK_STREAM && is_in_cgroup(sk);
}

/*
 * To connect: what the policy says of the address, and if it says no more than that it may be
 * reached, whether it is the host's own. *ret_host: the policy names it.
 */
static __always_inline enum stands_for ask_connect(struct subject *s, struct sock *sk,
						   const struct use *use, __u32 spelled,
						   bool *ret_host)
{
	struct answer *answer = &s->walk->answer;
	enum stands_for stands_for = STANDS_FOR_NOTHING;

	ask_again(s, CORDON_START_NET, spelled,
		  CORDON_RIGHT(CORDON_NET_CONNECT) | CORDON_RIGHT(CORDON_NET_HOST));
	*ret_host = !answer->missing;
	if (answer->missing & CORDON_RIGHT(CORDON_NET_CONNECT)) {
		answer->missing = CORDON_RIGHT(CORDON_NET_CONNECT);
		if (!may_be_host(s, answer))
			return STANDS_FOR_NOTHING;
		stands_for = ask_names(s, sk, use, spelled);
		if (stands_for != STANDS_FOR_NAME)
			return stands_for;
		/* Whoever owns the name does not say what may be reached of the host. */
		answer->missing = CORDON_RIGHT(CORDON_NET_HOST);
	}
	if (answer->missing)
		settle_host(s, sk, is_judged_later(sk, use));
	return stands_for;
}

/* By itself, as report_path() is. */
static __noinline void report_connect(const struct subject *s, __u32 length)
{
	struct object object = {.kind = CORDON_OBJECT_NET, .length = length};
	struct answer answer = {.rule = CORDON_NO_RULE};
	struct report report;

	fill_report(&report, s, CORDON_OP_CONNECT, &object, &answer);
	report.type = CORDON_EVENT_CONNECT;
	report.rights = CORDON_RIGHT(CORDON_NET_CONNECT);
	report_access(s->walk, s->execution, &report);
}

static __always_inline int decide_address(struct subject *s, struct sock *sk, const struct use *use)
{
	union address address = {};
	struct object object = {.kind = CORDON_OBJECT_NET};
	__u32 length = use->length, spelled;
	enum stands_for stands_for;
	bool v6, granted, host = false;
	int verdict;

	if (!subject_need_walk(s))
		return deny_unasked(s, use->operation);
	/* Too short for a family, or for the address it claims: the protocols refuse these. */
	if (length < 2)
		return 0;
	if (length > sizeof(address))
		length = sizeof(address);
	if (bpf_probe_read_kernel(&address, length, (const void *)use->address))
		return deny_unasked(s, use->operation);
	if (address.family == AF_UNSPEC && use->may_dissolve)
		return 0;
	/* UDP sends and IPv4 binds read AF_UNSPEC as AF_INET (udp_sendmsg(), __inet_bind()). */
	if (address.family == AF_UNSPEC || address.family == AF_INET)
		v6 = false;
	else if (address.family == AF_INET6)
		v6 = true;
	else
		return deny_number(s, use->operation, address.family, CORDON_REASON_UNRESOLVED,
				   -EACCES);
	if (use->right == CORDON_NET_CONNECT)
		spell_own_host((__u32 *)(v6 ? address.v6.ip : address.v4.ip), v6);
	spelled = spell_address(s->walk->name, v6, use->protocol, &address);
	if (use->right == CORDON_NET_CONNECT) {
		stands_for = ask_connect(s, sk, use, spelled, &host);
		if (stands_for == STANDS_FOR_STUB || stands_for == STANDS_FOR_ROUTE)
			return 0;
	} else {
		ask_again(s, CORDON_START_NET, spelled, CORDON_RIGHT(use->right));
	}
	object.length = spelled;
	granted = !s->walk->answer.missing;
	verdict = decide_or_wait(s, use->operation, &object, short_identity(s, spelled), -EACCES);
	if (verdict)
		return verdict;
	if (use->right == CORDON_NET_CONNECT)
		remember_allowed(s, sk, spelled, false, host || observes(s));
	/* What only goes ahead because the policy observes is on record as that. */
	if (granted && use->right == CORDON_NET_CONNECT && use->operation == CORDON_OP_CONNECT &&
	    AUDIT_LEVEL(s, CONNECTS) == CORDON_AUDIT_ALL)
		report_connect(s, spelled);
	return 0;
}

/*
 * Sockets that are not named by internet addresses exist only where the policy lets them be
 * created; but an option makes one of SMC out of a TCP socket (smc_ulp_init()), whose connections
 * are the kernel's own.
 */
static __always_inline int judge_family(struct subject *s, __u32 operation, __u32 family)
{
	if (family != AF_SMC)
		return 0;
	return deny_number(s, operation, family, CORDON_REASON_BUILTIN, -EACCES);
}

static __always_inline int judge_address(struct subject *s, struct socket *sock, __u64 address,
					 int length, __u32 operation, __u32 right)
{
	struct sock *sk = sock->sk;
	struct use use = {
		.address = address,
		.length = length < 0 ? 0 : length,
		.operation = operation,
		.right = right,
	};

	/* A socket that is being torn down reaches nobody. */
	if (!sk)
		return -EACCES;
	use.family = sk->__sk_common.skc_family;
	use.protocol = sk->sk_protocol;
	/* Unix sockets are judged by the peer, in hooks of their own. */
	if (!is_internet(use.family))
		return judge_family(s, operation, use.family);
	use.may_dissolve = operation == CORDON_OP_CONNECT ||
			   (operation == CORDON_OP_SEND && use.protocol != IPPROTO_UDP);
	return decide_address(s, sk, &use);
}

SEC("lsm/socket_connect")
int BPF_PROG(cordon_socket_connect, struct socket *sock, struct sockaddr *address, int addrlen,
	     int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s, judge_address(&s, sock, (__u64)address, addrlen, CORDON_OP_CONNECT,
				       CORDON_NET_CONNECT));
}

/* An abstract name; a path is created instead, which path_mknod judges. */
static __always_inline int judge_abstract_bind(struct subject *s, __u64 address, int length)
{
	__u32 size = length > 3 ? length - 3 : 0;
	__u8 first = 0;

	/* Shorter, it names nothing: the kernel chooses a free name. */
	if (length < 3 || bpf_probe_read_kernel(&first, 1, (const void *)(address + 2)) || first)
		return 0;
	if (!subject_need_walk(s))
		return deny_unasked(s, CORDON_OP_BIND);
	size &= CORDON_NAME_MAX;
	if (bpf_probe_read_kernel(s->walk->name, size, (const void *)(address + 3)))
		return deny_unasked(s, CORDON_OP_BIND);
	return decide_short(s, CORDON_OP_BIND, CORDON_START_ABSTRACT, size,
			    CORDON_RIGHT(CORDON_UNIX_BIND), CORDON_OBJECT_ABSTRACT);
}

SEC("lsm/socket_bind")
int BPF_PROG(cordon_socket_bind, struct socket *sock, struct sockaddr *address, int addrlen,
	     int ret)
{
	struct sock *sk = sock->sk;
	struct subject s;

	ENTER(&s, ret);
	if (sk && sk->__sk_common.skc_family == AF_UNIX)
		return LEAVE(&s, judge_abstract_bind(&s, (__u64)address, addrlen));
	return LEAVE(&s, judge_address(&s, sock, (__u64)address, addrlen, CORDON_OP_BIND,
				       CORDON_NET_BIND));
}

/*
 * Source routes send packets elsewhere than to the address that was asked about (ip_queue_xmit(),
 * tcp_v4_connect()): no option may name one.
 */
static __always_inline bool sets_route(int level, int optname)
{
	return (level == SOL_IP && optname == IP_OPTIONS) ||
	       (level == SOL_IPV6 &&
		(optname == IPV6_RTHDR || optname == IPV6_2292RTHDR ||
		 optname == IPV6_2292PKTOPTIONS || optname == IPV6_FLOWLABEL_MGR));
}

/*
 * The kernel reports a membership to the network by packets of its own (igmp_send_report(),
 * mld_sendpack()): they carry the group and the sources that the task chose, and belong to no
 * socket that could be judged. On an IPv6 socket either level is served, and by TCP as well.
 */
static __always_inline bool changes_membership(int level, int optname)
{
	if (level == SOL_IP)
		return optname >= IP_ADD_MEMBERSHIP && optname <= MCAST_MSFILTER;
	return level == SOL_IPV6 &&
	       ((optname >= MCAST_JOIN_GROUP && optname <= MCAST_MSFILTER) ||
		optname == IPV6_ADD_MEMBERSHIP || optname == IPV6_DROP_MEMBERSHIP ||
		optname == IPV6_JOIN_ANYCAST || optname == IPV6_LEAVE_ANYCAST);
}

/* Asked as the socket by which reports could be sent without the kernel's help. */
static __always_inline int judge_membership(struct subject *s, int level)
{
	return level == SOL_IP
		       ? decide_kind(s, CORDON_OP_SOCKET, AF_INET, SOCK_RAW, IPPROTO_IGMP)
		       : decide_kind(s, CORDON_OP_SOCKET, AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
}

SEC("lsm/socket_setsockopt")
int BPF_PROG(cordon_socket_setsockopt, struct socket *sock, int level, int optname, int ret)
{
	bool membership = changes_membership(level, optname);
	struct subject s;

	if (ret || !(membership || sets_route(level, optname)))
		return ret;
	ENTER(&s, ret);
	if (membership)
		return LEAVE(&s, judge_membership(&s, level));
	return LEAVE(&s, deny_number(&s, CORDON_OP_SOCKET, optname, CORDON_REASON_BUILTIN, -EPERM));
}

/*
 * Addresses in options of SCTP, several in one: its address may be allowed to nobody, as rules have
 * no word for its ports.
 */
SEC("lsm/sctp_bind_connect")
int BPF_PROG(cordon_sctp_bind_connect, struct sock *sk, int optname, struct sockaddr *address,
	     int length, int ret)
{
	struct subject s;

	ENTER(&s, ret);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_CONNECT, optname, CORDON_REASON_BUILTIN, -EACCES));
}

/* A socket that was never bound gets a port here; it is asked as port 0. */
SEC("lsm/socket_listen")
int BPF_PROG(cordon_socket_listen, struct socket *sock, int backlog, int ret)
{
	union address address = {};
	struct sock *sk = sock->sk;
	struct subject s;
	__u32 family, port, length;
	int verdict;

	ENTER(&s, ret);
	if (!sk)
		return LEAVE(&s, -EACCES);
	family = sk->__sk_common.skc_family;
	if (!is_internet(family))
		return LEAVE(&s, judge_family(&s, CORDON_OP_LISTEN, family));
	if (!subject_need_walk(&s))
		return LEAVE(&s, deny_unasked(&s, CORDON_OP_LISTEN));
	port = sk->__sk_common.skc_num;
	address.v4.port[0] = port >> 8;
	address.v4.port[1] = port;
	if (family == AF_INET6)
		BPF_CORE_READ_INTO(&address.v6.ip, sk, __sk_common.skc_v6_rcv_saddr);
	else
		BPF_CORE_READ_INTO(&address.v4.ip, sk, __sk_common.skc_rcv_saddr);
	length = spell_address(s.walk->name, family == AF_INET6, sk->sk_protocol, &address);
	verdict = decide_short(&s, CORDON_OP_LISTEN, CORDON_START_NET, length,
			       CORDON_RIGHT(CORDON_NET_LISTEN), CORDON_OBJECT_NET);
	if (!verdict && sk->sk_type == SOCK_STREAM)
		remember_allowed(&s, sk, length, true, false);
	return LEAVE(&s, verdict);
}

#endif
