/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Redirects DNS to the daemon's DNS proxy, for executions that may connect to host names. This
 * applies to any server, unless the policy allows a connection to it. Attached to the cgroup above
 * the cgroups of all executions. Runs in the process that connects, sends or receives, with the
 * socket locked.
 */
#ifndef CORDON_BPF_HOOK_DNS_BPF_H
#define CORDON_BPF_HOOK_DNS_BPF_H

#include "bpf/hooks/packet.bpf.h"

#define LOOPBACK_V4 bpf_htonl(0x7f000001)

static __always_inline const struct cordon_stub *stub_ports(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&stub, &key);
}

/* Is this server's traffic redirected to the DNS proxy? */
static __noinline int goes_by_stub(const struct internet_socket *socket,
				   const struct packet_name *p)
{
	struct cordon_execution *execution;
	struct answer answer = {};
	struct subject s = {};
	__u32 key = socket->label.slot;

	execution = bpf_map_lookup_elem(&executions, &key);
	if (!execution || !packet_subject(socket, execution, &s) ||
	    !(s.policy->flags & CORDON_POLICY_HOSTS))
		return 0;
	ask_packet(&s, p, CORDON_RIGHT(CORDON_NET_CONNECT), &answer);
	return may_be_host(&s, &answer);
}

static __always_inline struct internet_socket *dns_socket(struct bpf_sock_addr *ctx)
{
	__u32 protocol = ctx->protocol;

	if ((__u16)ctx->user_port != DNS_PORT ||
	    (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) || !ctx->sk)
		return 0;
	return bpf_sk_storage_get(&internet_sockets, ctx->sk, 0, 0);
}

/* The DNS proxy has no port in this address family. */
static __always_inline int refuse_query(void)
{
	count(CORDON_COUNTER_DNS_UNSERVED);
	return 0;
}

static __always_inline int redirect_v4(struct bpf_sock_addr *ctx)
{
	struct internet_socket *socket = dns_socket(ctx);
	const struct cordon_stub *ports = stub_ports();
	struct packet_name p = {};

	if (!socket || !ports)
		return 1;
	spell_v4(&p, ctx->protocol, ctx->user_ip4, DNS_PORT);
	if (!goes_by_stub(socket, &p))
		return 1;
	if (!ports->port_v4)
		return refuse_query();
	socket->server[0] = ctx->user_ip4;
	socket->server_family = AF_INET;
	ctx->user_ip4 = LOOPBACK_V4;
	ctx->user_port = ports->port_v4;
	return 1;
}

static __always_inline int redirect_v6(struct bpf_sock_addr *ctx)
{
	struct internet_socket *socket = dns_socket(ctx);
	const struct cordon_stub *ports = stub_ports();
	__u32 address[4] = {ctx->user_ip6[0], ctx->user_ip6[1], ctx->user_ip6[2], ctx->user_ip6[3]};
	bool mapped = !address[0] && !address[1] && address[2] == bpf_htonl(0xffff);
	struct packet_name p = {};

	if (!socket || !ports)
		return 1;
	if (mapped)
		spell_v4(&p, ctx->protocol, address[3], DNS_PORT);
	else
		spell_v6(&p, ctx->protocol, address, DNS_PORT);
	if (!goes_by_stub(socket, &p))
		return 1;
	if (mapped ? !ports->port_v4 : !ports->port_v6)
		return refuse_query();
	if (mapped) {
		socket->server[0] = address[3];
		socket->server_family = AF_INET;
		ctx->user_ip6[3] = LOOPBACK_V4;
		ctx->user_port = ports->port_v4;
		return 1;
	}
	for (int i = 0; i < 4; i++)
		socket->server[i] = address[i];
	socket->server_family = AF_INET6;
	ctx->user_ip6[0] = 0;
	ctx->user_ip6[1] = 0;
	ctx->user_ip6[2] = 0;
	ctx->user_ip6[3] = bpf_htonl(1);
	ctx->user_port = ports->port_v6;
	return 1;
}

SEC("cgroup/connect4")
int cordon_connect4(struct bpf_sock_addr *ctx)
{
	return redirect_v4(ctx);
}

SEC("cgroup/connect6")
int cordon_connect6(struct bpf_sock_addr *ctx)
{
	return redirect_v6(ctx);
}

SEC("cgroup/sendmsg4")
int cordon_sendmsg4(struct bpf_sock_addr *ctx)
{
	return redirect_v4(ctx);
}

SEC("cgroup/sendmsg6")
int cordon_sendmsg6(struct bpf_sock_addr *ctx)
{
	return redirect_v6(ctx);
}

/*
 * Shows the original server's address to the client. Resolvers accept a reply only from that
 * address, and may read the peer's name.
 */
static __always_inline int restore_v4(struct bpf_sock_addr *ctx)
{
	const struct cordon_stub *ports = stub_ports();
	struct internet_socket *socket;

	if (!ports || !ports->port_v4 || ctx->user_ip4 != LOOPBACK_V4 ||
	    (__u16)ctx->user_port != ports->port_v4 || !ctx->sk)
		return 1;
	socket = bpf_sk_storage_get(&internet_sockets, ctx->sk, 0, 0);
	if (!socket || socket->server_family != AF_INET)
		return 1;
	ctx->user_ip4 = socket->server[0];
	ctx->user_port = DNS_PORT;
	return 1;
}

static __always_inline int restore_v6(struct bpf_sock_addr *ctx)
{
	__u32 address[4] = {ctx->user_ip6[0], ctx->user_ip6[1], ctx->user_ip6[2], ctx->user_ip6[3]};
	const struct cordon_stub *ports = stub_ports();
	struct internet_socket *socket;
	__u16 port = ctx->user_port;
	bool v4;

	if (!ports || !ctx->sk || !port || address[0] || address[1])
		return 1;
	v4 = address[2] == bpf_htonl(0xffff) && address[3] == LOOPBACK_V4;
	if (v4 ? port != ports->port_v4
	       : port != ports->port_v6 || address[2] || address[3] != bpf_htonl(1))
		return 1;
	socket = bpf_sk_storage_get(&internet_sockets, ctx->sk, 0, 0);
	if (!socket || socket->server_family != (v4 ? AF_INET : AF_INET6))
		return 1;
	/* Context offsets must be constants, so each word is written in one place. */
	ctx->user_ip6[0] = v4 ? address[0] : socket->server[0];
	ctx->user_ip6[1] = v4 ? address[1] : socket->server[1];
	ctx->user_ip6[2] = v4 ? address[2] : socket->server[2];
	ctx->user_ip6[3] = v4 ? socket->server[0] : socket->server[3];
	ctx->user_port = DNS_PORT;
	return 1;
}

SEC("cgroup/recvmsg4")
int cordon_recvmsg4(struct bpf_sock_addr *ctx)
{
	return restore_v4(ctx);
}

SEC("cgroup/recvmsg6")
int cordon_recvmsg6(struct bpf_sock_addr *ctx)
{
	return restore_v6(ctx);
}

SEC("cgroup/getpeername4")
int cordon_getpeername4(struct bpf_sock_addr *ctx)
{
	return restore_v4(ctx);
}

SEC("cgroup/getpeername6")
int cordon_getpeername6(struct bpf_sock_addr *ctx)
{
	return restore_v6(ctx);
}

#endif
