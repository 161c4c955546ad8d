/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Unix sockets: checks on the peer of a connect or send. The name is taken from the peer's socket
 * object.
 */
#ifndef CORDON_BPF_HOOK_UNIX_BPF_H
#define CORDON_BPF_HOOK_UNIX_BPF_H

#include "bpf/core/internet.bpf.h"

struct socket_owner {
	struct label label;
};

/* The execution that created a unix socket. An execution may always reach its own sockets. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket_owner);
} socket_owners SEC(".maps");

SEC("lsm/socket_post_create")
int BPF_PROG(cordon_socket_post_create, struct socket *sock, int family, int type, int protocol,
	     int kern, int ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct sock *sk = sock->sk;
	struct socket_owner *owner;
	struct subject s;

	if (ret || kern || !(family == AF_UNIX || is_internet(family)) ||
	    !subject_label(task, &s) || !sk)
		return ret;
	if (is_internet(family))
		return own_internet_socket(&s, sk);
	/* A socket without a record counts as foreign, which grants fewer rights, never more. */
	owner = bpf_sk_storage_get(&socket_owners, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (owner)
		owner->label = s.label;
	return 0;
}

static __always_inline bool is_own_socket(const struct subject *s, struct sock *sk)
{
	struct socket_owner *owner = bpf_sk_storage_get(&socket_owners, sk, 0, 0);

	return owner && same_label(&owner->label, &s->label);
}

#define SUN_PATH_OFFSET 2u

static __always_inline int judge_peer(struct subject *s, __u64 peer, __u32 operation)
{
	__u64 address = read_u64(FIELD(struct unix_sock, peer, addr)), name;
	__u64 dentry = read_u64(FIELD(struct unix_sock, peer, path.dentry));
	__u64 mount = read_u64(FIELD(struct unix_sock, peer, path.mnt));
	__u32 length;

	struct object object = {.kind = CORDON_OBJECT_PATH};
	__u64 identity = dentry;

	/* Unnamed peer: the other end of a socketpair, which the caller already holds. */
	if (!dentry && !address)
		return 0;
	if (!subject_need_walk(s))
		return deny_unasked(s, operation);
	if (dentry) {
		ask_name(s, dentry, mount, NAME_QUESTION(CORDON_RIGHT(CORDON_UNIX_CONNECT), 0));
	} else {
		length = read_u32(FIELD(struct unix_address, address, len)) - SUN_PATH_OFFSET - 1;
		length &= CORDON_NAME_MAX;
		name = FIELD(struct unix_address, address, name) + SUN_PATH_OFFSET + 1;
		if (bpf_probe_read_kernel(s->walk->name, length, (const void *)name))
			return deny_unasked(s, operation);
		object.kind = CORDON_OBJECT_ABSTRACT;
		object.length = length;
		ask_short(s, CORDON_START_ABSTRACT, length, CORDON_RIGHT(CORDON_UNIX_CONNECT));
		identity = short_identity(s, length);
	}
	return decide_answered(s, operation, &object, identity, -EACCES);
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(cordon_unix_stream_connect, struct sock *sock, struct sock *other, struct sock *newsk,
	     int ret)
{
	struct subject s;

	ENTER(&s, ret);
	if (is_own_socket(&s, other))
		return LEAVE(&s, 0);
	return LEAVE(&s, judge_peer(&s, (__u64)other, CORDON_OP_CONNECT));
}

SEC("lsm/unix_may_send")
int BPF_PROG(cordon_unix_may_send, struct socket *sock, struct socket *other, int ret)
{
	struct sock *peer = other->sk;
	struct subject s;

	ENTER(&s, ret);
	if (!peer || is_own_socket(&s, peer))
		return LEAVE(&s, 0);
	return LEAVE(&s, judge_peer(&s, (__u64)peer, CORDON_OP_SEND));
}

#endif
