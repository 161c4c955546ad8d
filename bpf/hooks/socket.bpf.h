/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Checks on creating sockets, and on internet addresses that sockets are used with. */
#ifndef CORDON_BPF_HOOK_SOCKET_BPF_H
#define CORDON_BPF_HOOK_SOCKET_BPF_H

#include "bpf/core/hosts.bpf.h"
#include "bpf/core/own_address.bpf.h"
#include "bpf/core/waiting.bpf.h"
#include "bpf/pure/own_host.h"

/* Protocol that a rule must name: 0 is the default protocol of family and type. */
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

/* Addresses of both families, as the kernel stores them. */
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
 * Writes the START_NET key to walk->name and returns its length. An IPv4-mapped IPv6 address
 * becomes IPv4, because its packets are IPv4.
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

/* A check of an address that a socket is used with. */
struct use {
	__u64 address;
	__u32 length;
	__u32 operation;
	__u32 right;
	__u32 family; /* of the socket */
	__u32 protocol;
	bool may_dissolve; /* AF_UNSPEC ends an association instead of naming an address */
};

/* Meaning of an address that no rule covers, if the policy allows connections to host names. */
enum stands_for {
	STANDS_FOR_NOTHING,
	STANDS_FOR_NAME,  /* from a reply of the DNS proxy, and allowed */
	STANDS_FOR_STUB,  /* a DNS server: programs at the cgroup redirect to the DNS proxy */
	STANDS_FOR_ROUTE, /* resolvers connect datagram sockets to find addresses with a route */
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
	/* The following results are safe only with the programs at the cgroup. */
	own = bpf_sk_storage_get(&internet_sockets, sk, 0, 0);
	if (!own || !same_label(&own->label, &s->label) || !is_in_cgroup(sk))
		return STANDS_FOR_NOTHING;
	port = spelled == 8 ? *(__u16 *)(name + 6) : *(__u16 *)(name + 18);
	if (port == DNS_PORT && (name[1] == IPPROTO_UDP || name[1] == IPPROTO_TCP))
		return STANDS_FOR_STUB;
	/* Connecting sends nothing, and later packets are checked. */
	if (name[1] == IPPROTO_UDP && use->operation == CORDON_OP_CONNECT && is_answer(s, words))
		return STANDS_FOR_ROUTE;
	return STANDS_FOR_NOTHING;
}

/*
 * Packets check the destination of datagrams, so a send need not check it twice. A connect is
 * checked here, so that a denied connection to the host fails at once.
 */
static __always_inline bool is_judged_later(struct sock *sk, const struct use *use)
{
	return use->operation == CORDON_OP_SEND && sk->sk_type != SOCK_STREAM && is_in_cgroup(sk);
}

/*
 * Checks a connect. An address that is allowed without NET_HOST is also checked for being the
 * host's own. *ret_host is set if the policy allows the address with NET_HOST.
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
		/*
		 * The owner of a DNS name must not choose which services of the host can be
		 * reached.
		 */
		answer->missing = CORDON_RIGHT(CORDON_NET_HOST);
	}
	if (answer->missing)
		settle_host(s, sk, is_judged_later(sk, use));
	return stands_for;
}

/* A separate function for the verifier, as report_path() is. */
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
	/* Too short for a family, or for the address it claims: the protocols reject these. */
	if (length < 2)
		return 0;
	if (length > sizeof(address))
		length = sizeof(address);
	if (bpf_probe_read_kernel(&address, length, (const void *)use->address))
		return deny_unasked(s, use->operation);
	if (address.family == AF_UNSPEC && use->may_dissolve)
		return 0;
	/* UDP sends and IPv4 binds treat AF_UNSPEC as AF_INET (udp_sendmsg(), __inet_bind()). */
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
	/* In observe mode, an address that is not granted was logged as such already. */
	if (granted && use->right == CORDON_NET_CONNECT && use->operation == CORDON_OP_CONNECT &&
	    AUDIT_LEVEL(s, CONNECTS) == CORDON_AUDIT_ALL)
		report_connect(s, spelled);
	return 0;
}

/*
 * Sockets of other families exist only if the policy allows creating them. The exception is SMC: an
 * option converts a TCP socket (smc_ulp_init()), and the kernel then opens connections itself.
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

	/* A socket without its sock is being closed, and can reach no destination. */
	if (!sk)
		return -EACCES;
	use.family = sk->__sk_common.skc_family;
	use.protocol = sk->sk_protocol;
	/* Unix sockets are checked by their peer, in other hooks. */
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

/* Checks an abstract name. Binding a path creates it, which path_mknod checks. */
static __always_inline int judge_abstract_bind(struct subject *s, __u64 address, int length)
{
	__u32 size = length > 3 ? length - 3 : 0;
	__u8 first = 0;

	/* A shorter address has no name: the kernel chooses a free one. */
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
 * Source routes send packets to another address than the checked one (ip_queue_xmit(),
 * tcp_v4_connect()), so no option may set one.
 */
static __always_inline bool sets_route(int level, int optname)
{
	return (level == SOL_IP && optname == IP_OPTIONS) ||
	       (level == SOL_IPV6 &&
		(optname == IPV6_RTHDR || optname == IPV6_2292RTHDR ||
		 optname == IPV6_2292PKTOPTIONS || optname == IPV6_FLOWLABEL_MGR));
}

/*
 * Does the option make the kernel send membership reports? These packets contain the group and the
 * sources that the task chose (igmp_send_report(), mld_sendpack()), and belong to no socket that
 * could be checked. IPv6 sockets accept both levels, and TCP sockets accept these options, too.
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

/* Requires the raw socket that could send such reports without the kernel. */
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
 * Addresses in SCTP options, several in one option: always denied, because rules cannot name SCTP
 * ports.
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

/* Checks the listening address. An unbound socket gets its port here, and is checked as port 0. */
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
