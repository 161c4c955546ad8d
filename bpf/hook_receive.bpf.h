/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Descriptors that arrive: over a unix socket, by pidfd_getfd(2), from a seccomp supervisor. */
#ifndef CORDON_BPF_HOOK_RECEIVE_BPF_H
#define CORDON_BPF_HOOK_RECEIVE_BPF_H

#include "bpf/hook_open.bpf.h"
#include "bpf/hook_socket.bpf.h"
#include "bpf/hook_unix.bpf.h"

/* Connected to a name that the execution may not connect to? */
static __always_inline int judge_received_unix(struct subject *s, struct sock *sk)
{
	struct unix_sock *own = bpf_skc_to_unix_sock(sk);
	struct sock *peer;

	if (!own)
		return 0;
	peer = own->peer;
	/* A peer that is gone has lost its name, and is reached by nobody. */
	if (!peer || is_own_socket(s, peer) || (peer->__sk_common.skc_flags & 1ul << SOCK_DEAD))
		return 0;
	return judge_peer(s, (__u64)peer, CORDON_OP_RECEIVE);
}

/* As if it had been made here, and connected or bound as it is. */
static __always_inline int judge_received_socket(struct subject *s, struct sock *sk)
{
	__u32 family = sk->__sk_common.skc_family;
	int verdict;

	if (family == AF_UNIX)
		return judge_received_unix(s, sk);
	verdict = decide_kind(s, CORDON_OP_RECEIVE, family, sk->sk_type, sk->sk_protocol);
	if (verdict || !is_internet(family))
		return verdict;
	return judge_foreign(s, sk, CORDON_OP_RECEIVE);
}

/* A descriptor that arrives is opened anew, as far as rights go. */
SEC("lsm/file_receive")
int BPF_PROG(cordon_file_receive, struct file *file, int ret)
{
	struct socket *sock;
	struct subject s;

	ENTER(&s, ret);
	sock = bpf_sock_from_file(file);
	if (sock && sock->sk)
		return LEAVE(&s, judge_received_socket(&s, sock->sk));
	return LEAVE(&s, judge_file(&s, file, CORDON_OP_RECEIVE));
}

#endif
