/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Checks on sending and receiving by internet sockets. If a call names no address, only foreign
 * sockets are checked: the destinations of the execution's own were checked.
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
 * Checks a socket that the execution received open from another process: it needs the rights for
 * the socket's addresses. For a listening socket and an accepted one, LISTEN on the local address
 * is sufficient. Returns the length of the last checked key; 0: no check was needed.
 */
static __noinline __u32 ask_foreign(struct subject *s, struct sock *sk)
{
	union address address = {};
	bool v6 = sk->__sk_common.skc_family == AF_INET6, stream = sk->sk_type == SOCK_STREAM;
	__u32 peer_port = bpf_ntohs(sk->__sk_common.skc_dport), port = sk->__sk_common.skc_num;
	__u32 length = 0;

	/* Neither bound nor connected: later calls are checked. */
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

/* Reading and writing without an address are allowed for sockets of the execution. */
static __always_inline int judge_use(struct subject *s, struct sock *sk, __u32 operation)
{
	if (is_own_internet_socket(s, sk))
		return 0;
	return judge_foreign(s, sk, operation);
}

/*
 * A network file system sends requests in the context of the task that uses a file, by sockets that
 * the kernel created (sock_create_kern(), net/socket.c). No descriptor refers to these sockets, and
 * the access to the file was checked.
 */
static __always_inline bool is_the_kernels(const struct sock *sk)
{
	return sk && BPF_CORE_READ_BITFIELD(sk, sk_kern_sock);
}

/* Checks a call that names no address by the socket's destination. */
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
 * Does the ancillary data of a message contain a source route, or more headers than are examined?
 * The kernel has already copied this data.
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
		/* The protocols also stop at a length that does not fit. */
		if (header.cmsg_len < sizeof(header) || header.cmsg_len + 7 > length)
			return false;
		at += (header.cmsg_len + 7) & ~7ull;
		length -= (header.cmsg_len + 7) & ~7ull;
	}
	return true;
}

/* Separate from the check of the address, because messages without an address are checked too. */
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

/* Checks the destination of a datagram, or of a TCP fast open. */
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

/* Reads received data without a message (tcp_zerocopy_receive()). */
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
 * Checks transfers by sendfile(2) and splice(2): received pages, and before Linux 6.5 sent pages
 * too. These calls pass no socket hook there. This hook runs for every read and write on the host.
 * It is therefore attached only once an execution starts with a foreign socket, or may receive one
 * (CORDON_DESCRIPTORS_RECORD). The execution's own sockets are checked by their packets.
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

/* For a listening socket that the execution created or received. */
SEC("lsm/socket_accept")
int BPF_PROG(cordon_socket_accept, struct socket *sock, struct socket *newsock, int ret)
{
	return judge_transfer(sock->sk, CORDON_OP_RECEIVE, ret);
}

#endif
