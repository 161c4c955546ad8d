/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What goes out of internet sockets and comes in: freely by those that the execution made, and were
 * judged as they were.
 */
#ifndef CORDON_BPF_HOOK_TRANSFER_BPF_H
#define CORDON_BPF_HOOK_TRANSFER_BPF_H

#include "bpf/hooks/socket.bpf.h"

static __always_inline __u32 ask_spelled(struct subject *s, struct sock *sk,
					 const union address *address, __u32 rights)
{
	__u32 length = spell_address(s->walk->name, sk->__sk_common.skc_family == AF_INET6,
				     sk->sk_protocol, address);

	ask_short(s, CORDON_START_NET, length, rights);
	return length;
}

/*
 * A socket that this execution did not make, handed to it open: may it have what it is open to? For
 * one that listens, or that somebody accepted, listening there would do as well. Returns the length
 * of the question that was asked last; 0: there is nothing to ask.
 */
static __noinline __u32 ask_foreign(struct subject *s, struct sock *sk)
{
	union address address = {};
	bool v6 = sk->__sk_common.skc_family == AF_INET6, stream = sk->sk_type == SOCK_STREAM;
	__u32 peer_port = bpf_ntohs(sk->__sk_common.skc_dport), port = sk->__sk_common.skc_num;
	__u32 length = 0;

	/* Neither bound nor connected: it has everything to ask for yet. */
	if (!port && !peer_port)
		return 0;
	if (!peer_port || stream) {
		if (v6)
			BPF_CORE_READ_INTO(&address.v6.ip, sk, __sk_common.skc_v6_rcv_saddr);
		else
			BPF_CORE_READ_INTO(&address.v4.ip, sk, __sk_common.skc_rcv_saddr);
		address.v4.port[0] = port >> 8;
		address.v4.port[1] = port;
		length = ask_spelled(s, sk, &address,
				     stream ? CORDON_RIGHT(CORDON_NET_LISTEN)
					    : CORDON_RIGHT(CORDON_NET_BIND));
		if (!peer_port || !s->walk->answer.missing)
			return length;
	}
	if (v6)
		BPF_CORE_READ_INTO(&address.v6.ip, sk, __sk_common.skc_v6_daddr);
	else
		BPF_CORE_READ_INTO(&address.v4.ip, sk, __sk_common.skc_daddr);
	address.v4.port[0] = peer_port >> 8;
	address.v4.port[1] = peer_port;
	length = ask_spelled(s, sk, &address,
			     CORDON_RIGHT(CORDON_NET_CONNECT) | CORDON_RIGHT(CORDON_NET_HOST));
	settle_host(s, sk, false);
	return length;
}

static __always_inline int judge_foreign(struct subject *s, struct sock *sk, __u32 operation)
{
	struct object object = {.kind = CORDON_OBJECT_NET};

	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	object.length = ask_foreign(s, sk);
	if (!object.length)
		return 0;
	return decide_answered(s, operation, &object, short_identity(s, object.length), -EACCES);
}

static __always_inline bool is_own_internet_socket(const struct subject *s, struct sock *sk)
{
	struct internet_socket *own = bpf_sk_storage_get(&internet_sockets, sk, 0, 0);

	return own && same_label(&own->label, &s->label);
}

/* Reading and writing without an address: free for sockets of its own. */
static __always_inline int judge_use(struct subject *s, struct sock *sk, __u32 operation)
{
	if (is_own_internet_socket(s, sk))
		return 0;
	return judge_foreign(s, sk, operation);
}

/*
 * A network file system sends its requests in the context of the task whose file they are about, by
 * sockets that the kernel made (sock_create_kern(), net/socket.c). No descriptor leads to those:
 * the access to the file was judged.
 */
static __always_inline bool is_the_kernels(const struct sock *sk)
{
	return sk && BPF_CORE_READ_BITFIELD(sk, sk_kern_sock);
}

/* What names no address goes where its socket leads. */
static __always_inline int judge_transfer(struct sock *sk, __u32 operation, int ret)
{
	struct subject s;

	if (ret || !sk || !is_internet(sk->__sk_common.skc_family))
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, is_the_kernels(sk) ? 0 : judge_use(&s, sk, operation));
}

#define ANCILLARY_MAX 8

static __always_inline bool names_route(const struct cmsghdr *header)
{
	if (header->cmsg_level == SOL_IP)
		return header->cmsg_type == IP_RETOPTS;
	return header->cmsg_level == SOL_IPV6 &&
	       (header->cmsg_type == IPV6_RTHDR || header->cmsg_type == IPV6_2292RTHDR);
}

/*
 * Does the ancillary data of a message, which the kernel has copied by now, carry a source route,
 * or more than can be looked through?
 */
static __always_inline bool is_routed(__u64 at, __u64 length)
{
	struct cmsghdr header;

	for (int i = 0; i < ANCILLARY_MAX; i++) {
		if (length < sizeof(header))
			return false;
		if (bpf_probe_read_kernel(&header, sizeof(header), (const void *)at))
			return true;
		if (names_route(&header))
			return true;
		/* A length that does not fit ends the protocols' walk as well. */
		if (header.cmsg_len < sizeof(header) || header.cmsg_len + 7 > length)
			return false;
		at += (header.cmsg_len + 7) & ~7ull;
		length -= (header.cmsg_len + 7) & ~7ull;
	}
	return true;
}

/* Apart from the question for the address: it is asked of messages without one, too. */
SEC("lsm/socket_sendmsg")
int BPF_PROG(cordon_socket_route, struct socket *sock, struct msghdr *msg, int size, int ret)
{
	struct sock *sk = sock->sk;
	struct subject s;

	if (ret || !msg->msg_controllen || !sk || !is_internet(sk->__sk_common.skc_family))
		return ret;
	ENTER(&s, ret);
	if (!is_routed((__u64)msg->msg_control, msg->msg_controllen))
		return LEAVE(&s, 0);
	return LEAVE(&s,
		     deny_number(&s, CORDON_OP_SOCKET, IP_RETOPTS, CORDON_REASON_BUILTIN, -EPERM));
}

/* A send that names a destination, a datagram's or of TCP fast open, is asked about that. */
SEC("lsm/socket_sendmsg")
int BPF_PROG(cordon_socket_sendmsg, struct socket *sock, struct msghdr *msg, int size, int ret)
{
	struct subject s;
	__u64 name;

	if (ret)
		return ret;
	name = (__u64)msg->msg_name;
	if (!name || msg->msg_namelen <= 0)
		return judge_transfer(sock->sk, CORDON_OP_SEND, ret);
	ENTER(&s, ret);
	if (is_the_kernels(sock->sk))
		return LEAVE(&s, 0);
	return LEAVE(&s, judge_address(&s, sock, name, msg->msg_namelen, CORDON_OP_SEND,
				       CORDON_NET_CONNECT));
}

SEC("lsm/socket_recvmsg")
int BPF_PROG(cordon_socket_recvmsg, struct socket *sock, struct msghdr *msg, int size, int flags,
	     int ret)
{
	return judge_transfer(sock->sk, CORDON_OP_RECEIVE, ret);
}

/* Reads what has arrived without a message (tcp_zerocopy_receive()). */
SEC("lsm/socket_getsockopt")
int BPF_PROG(cordon_socket_getsockopt, struct socket *sock, int level, int optname, int ret)
{
	struct sock *sk = sock->sk;
	struct subject s;

	if (ret || level != SOL_TCP || optname != TCP_ZEROCOPY_RECEIVE || !sk)
		return ret;
	ENTER(&s, ret);
	return LEAVE(&s, judge_use(&s, sk, CORDON_OP_RECEIVE));
}

/*
 * Pages that go to a socket or come from one without a message: sendfile(2) and splice(2), before
 * Linux 6.5 to, and everywhere from it. Asked before each read and write of the host, so attached
 * once an execution begins with a socket that others made, or may be sent one
 * (CORDON_DESCRIPTORS_RECORD): sockets of its own are judged at its packets.
 */
SEC("lsm/file_permission")
int BPF_PROG(cordon_file_permission, struct file *file, int mask, int ret)
{
	struct socket *sock;

	if (ret || (file->f_inode->i_mode & S_IFMT) != S_IFSOCK)
		return ret;
	sock = bpf_sock_from_file(file);
	if (!sock)
		return 0;
	return judge_transfer(sock->sk, mask & MAY_WRITE ? CORDON_OP_SEND : CORDON_OP_RECEIVE, ret);
}

/* On a listening socket of its own, or one that was handed to it. */
SEC("lsm/socket_accept")
int BPF_PROG(cordon_socket_accept, struct socket *sock, struct socket *newsock, int ret)
{
	return judge_transfer(sock->sk, CORDON_OP_RECEIVE, ret);
}

#endif
