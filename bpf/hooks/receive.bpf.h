/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Descriptors that a task receives: over a unix socket, by pidfd_getfd(2), from a seccomp
 * supervisor.
 */
#ifndef CORDON_BPF_HOOK_RECEIVE_BPF_H
#define CORDON_BPF_HOOK_RECEIVE_BPF_H

#include "bpf/hooks/open.bpf.h"
#include "bpf/hooks/transfer.bpf.h"
#include "bpf/hooks/unix.bpf.h"

/* Checks whether the socket is connected to a name that the execution may not connect to. */
static __always_inline int judge_received_unix(struct subject *s, struct sock *sk)
{
	struct unix_sock *own = bpf_skc_to_unix_sock(sk);
	struct sock *peer;

	if (!own)
		return 0;
	peer = own->peer;
	/* A dead peer has lost its name, and no task can reach it. */
	if (!peer || is_own_socket(s, peer) || (peer->__sk_common.skc_flags & 1ul << SOCK_DEAD))
		return 0;
	return judge_peer(s, (__u64)peer, CORDON_OP_RECEIVE);
}

/*
 * Are all later uses of the socket checked? The sender still has it and may connect it elsewhere
 * afterwards. cordon_file_permission() checks each use if the policy keeps inherited descriptors.
 * Under other policies, foreign internet sockets are denied.
 */
static __always_inline bool is_watched(const struct subject *s, struct sock *sk)
{
	return CORDON_KEPT_DESCRIPTORS(s->policy->flags) == CORDON_DESCRIPTORS_RECORD ||
	       is_own_internet_socket(s, sk);
}

/* Checks the socket as if the execution had created it, and connected or bound it. */
static __always_inline int judge_received_socket(struct subject *s, struct sock *sk)
{
	__u32 family = sk->__sk_common.skc_family;
	int verdict;

	if (family == AF_UNIX)
		return judge_received_unix(s, sk);
	verdict = decide_kind(s, CORDON_OP_RECEIVE, family, sk->sk_type, sk->sk_protocol);
	if (verdict || !is_internet(family))
		return verdict;
	if (!is_watched(s, sk))
		return deny_number(s, CORDON_OP_RECEIVE, family, CORDON_REASON_BUILTIN, -EACCES);
	return judge_foreign(s, sk, CORDON_OP_RECEIVE);
}

static __always_inline __u64 word_of(const char text[8])
{
	__u64 word;

	__builtin_memcpy(&word, text, sizeof(word));
	return word;
}

/*
 * Is this a kernel object that does more than pass data on? Examples: an io_uring with a thread of
 * another task, a performance counter, a seccomp listener, a BPF map.
 */
static __always_inline bool is_powerful(struct file *file)
{
	struct dentry *dentry = file->f_path.dentry;
	__u64 name;

	if (dentry->d_sb->s_magic != ANON_INODE_FS_MAGIC)
		return false;
	name = read_u64((__u64)dentry->d_name.name);
	return name != word_of("[eventfd") && name != word_of("[eventpo") &&
	       name != word_of("[timerfd") && name != word_of("[signalf") &&
	       name != word_of("[pidfd]\0");
}

/* Requires the rights that opening the file would require. */
SEC("lsm/file_receive")
int BPF_PROG(cordon_file_receive, struct file *file, int ret)
{
	struct socket *sock;
	struct subject s;

	ENTER(&s, ret);
	sock = bpf_sock_from_file(file);
	if (sock && sock->sk)
		return LEAVE(&s, judge_received_socket(&s, sock->sk));
	if (is_powerful(file))
		return LEAVE(&s, deny_number(&s, CORDON_OP_RECEIVE, ANON_INODE_FS_MAGIC,
					     CORDON_REASON_BUILTIN, -EACCES));
	return LEAVE(&s, judge_file(&s, file, CORDON_OP_RECEIVE));
}

#endif
