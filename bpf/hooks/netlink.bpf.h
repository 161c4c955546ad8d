/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Netlink messages that configure a network which the execution made
 * (CORDON_POLICY_OWN_NAMESPACES). They bring links up or down and set addresses. They make no link,
 * route, queue or filter, because only root reaches that much of the kernel otherwise.
 *
 * The kernel checks CAP_NET_ADMIN for each message, but the hook `capable` sees no message. This
 * hook reads the kernel's own copy. One denied message denies all messages of the call.
 */
#ifndef CORDON_BPF_HOOK_NETLINK_BPF_H
#define CORDON_BPF_HOOK_NETLINK_BPF_H

#include "bpf/core/decide.bpf.h"
#include "bpf/core/own_namespaces.bpf.h"

#define MESSAGES_MAX 1024u /* in one call */

struct message_search {
	__u64 at;
	__u32 left;    /* bytes */
	__u32 checked; /* all messages are harmless */
};

/* Does the message only read, bring an existing link up or down, or set its addresses? */
static __always_inline bool is_harmless_message(const struct nlmsghdr *message)
{
	__u32 type = message->nlmsg_type;

	if (type < NLMSG_MIN_TYPE || (type & RTM_KIND_MASK) == RTM_KIND_GET)
		return true;
	switch (type) {
	case RTM_NEWLINK:
		return !(message->nlmsg_flags & NLM_F_CREATE);
	case RTM_DELLINK:
	case RTM_SETLINK:
	case RTM_NEWADDR:
	case RTM_DELADDR:
		return true;
	default:
		return false;
	}
}

/* netlink_rcv_skb(), net/netlink/af_netlink.c, walks the messages in the same way. */
static long look_at_message(__u32 index, void *context)
{
	struct message_search *search = context;
	struct nlmsghdr message = {};
	__u32 length;

	if (search->left < sizeof(message)) {
		search->checked = 1;
		return 1;
	}
	if (bpf_probe_read_kernel(&message, sizeof(message), (const void *)search->at))
		return 1;
	length = message.nlmsg_len;
	/* The kernel reads no message after this one. */
	if (length < sizeof(message) || length > search->left) {
		search->checked = 1;
		return 1;
	}
	if (!is_harmless_message(&message))
		return 1;
	length = (length + NLMSG_ALIGNTO - 1) & ~(NLMSG_ALIGNTO - 1);
	if (length > search->left)
		length = search->left;
	search->at += length;
	search->left -= length;
	return 0;
}

static __always_inline bool are_harmless(const struct sk_buff *skb)
{
	struct message_search search = {.at = (__u64)skb->data, .left = skb->len};

	bpf_loop(MESSAGES_MAX, look_at_message, &search, 0);
	return search.checked;
}

SEC("lsm/netlink_send")
int BPF_PROG(cordon_netlink_send, struct sock *sk, struct sk_buff *skb, int ret)
{
	struct subject s;

	if (ret || sk->sk_protocol != NETLINK_ROUTE)
		return ret;
	ENTER(&s, ret);
	/* In other network namespaces, the policy's capabilities decide. */
	if ((s.policy->capabilities >> CAP_NET_ADMIN) & 1 || !has_own_namespaces(&s) ||
	    !is_own_user_namespace(&s, user_namespace_of(bpf_get_current_task_btf())) ||
	    are_harmless(skb))
		return LEAVE(&s, 0);
	return LEAVE(&s, deny_number(&s, CORDON_OP_CAPABLE, CAP_NET_ADMIN, CORDON_REASON_BUILTIN,
				     -EPERM));
}

#endif
