/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Record of an internet socket: the execution that created it, and the destination that was checked
 * last. It is stored with the socket, so that packets can be checked where no task is known.
 */
#ifndef CORDON_BPF_INTERNET_BPF_H
#define CORDON_BPF_INTERNET_BPF_H

#include "bpf/core/decide.bpf.h"

/* A START_NET key as words that can be compared: zero after its end. */
#define NET_WORDS 3

struct internet_socket {
	struct bpf_spin_lock lock; /* protects policy, name, serves and host */
	__u32 serves; /* 1: listens, or was accepted; `name` is the listening address */
	struct label label;
	__u64 policy; /* under which `name` was allowed; 0: no destination yet */
	__u64 name[NET_WORDS];
	struct cordon_event maker; /* the process that created it, for events */
	/*
	 * Destination of DNS before it was redirected to the DNS proxy: replies must come from
	 * there.
	 */
	__u32 server[4];
	__u32 server_family; /* 0: DNS was never redirected */
	__u32 host;	     /* 1: `name` was allowed even as an address of the host itself */
	__u64 counted;	     /* destination of the connection that was counted last; 0: none */
};

/* An accepted socket gets a copy of its listener's record. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct internet_socket);
} internet_sockets SEC(".maps");

/* A separate type, so that the verifier knows the size behind a pointer to it. */
struct net_question {
	__u64 words[NET_WORDS];
};

static __always_inline bool is_internet(__u32 family)
{
	return family == AF_INET || family == AF_INET6;
}

/* `from` has room for the longest key; `length` bytes of it are used. */
static __always_inline void net_words(__u64 words[NET_WORDS], const __u8 *from, __u32 length)
{
	words[0] = *(const __u64 *)from;
	words[1] = length == 20 ? *(const __u64 *)(from + 8) : 0;
	words[2] = length == 20 ? *(const __u32 *)(from + 16) : 0;
}

static __always_inline bool same_words(const __u64 *a, const __u64 *b)
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/*
 * Records that the key in walk->name was allowed, and with NET_HOST if `host`. Packets to this
 * destination then need no check.
 */
static __always_inline void remember_allowed(const struct subject *s, struct sock *sk, __u32 length,
					     bool serves, bool host)
{
	struct internet_socket *socket = bpf_sk_storage_get(&internet_sockets, sk, 0, 0);
	__u64 words[NET_WORDS], policy = s->policy_ref;

	if (!socket)
		return;
	net_words(words, s->walk->name, length);
	bpf_spin_lock(&socket->lock);
	socket->serves = serves;
	socket->host = host;
	socket->policy = policy;
	socket->name[0] = words[0];
	socket->name[1] = words[1];
	socket->name[2] = words[2];
	bpf_spin_unlock(&socket->lock);
}

#define CGROUP_LEVELS 8

/* Is the socket in cordon's cgroup, which has the programs for packets and addresses? */
static __noinline int is_in_cgroup(struct sock *sk)
{
	struct cgroup *cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup);
	const struct cordon_meta *m;
	__u32 key = 0;

	m = bpf_map_lookup_elem(&meta, &key);
	if (!m || !m->cgroup)
		return 0;
	for (int i = 0; i < CGROUP_LEVELS && cgroup; i++) {
		if (BPF_CORE_READ(cgroup, kn, id) == m->cgroup)
			return 1;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return 0;
}

/* Returns 0, or -ENOMEM: without its record a socket could send nothing. */
static __always_inline int own_internet_socket(const struct subject *s, struct sock *sk)
{
	struct internet_socket *socket =
		bpf_sk_storage_get(&internet_sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!socket)
		return -ENOMEM;
	socket->label = s->label;
	fill_process(&socket->maker);
	return 0;
}

#endif
