/* SPDX-License-Identifier: Apache-2.0 */
/* Who has made the sockets that have an address of this host: the kernel's own list (sock_diag). */
#include "cli/live/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

static void map_address(struct in6_addr *address, const void *four)
{
	*address = (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff}};
	memcpy(&address->s6_addr[12], four, 4);
}

static bool parse_port(const char *text, uint16_t *ret_port)
{
	unsigned long port;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	port = strtoul(text, &end, 10);
	if (errno || *end || port == 0 || port > UINT16_MAX)
		return false;
	*ret_port = (uint16_t)port;
	return true;
}

int socket_address_parse(const char *text, struct socket_address *ret_address)
{
	const char *colon = strrchr(text, ':');
	struct socket_address address = {};
	char host[INET6_ADDRSTRLEN + 2];
	struct in_addr four;
	size_t length;

	if (!colon || (size_t)(colon - text) >= sizeof(host) ||
	    !parse_port(colon + 1, &address.port))
		return -EINVAL;
	length = (size_t)(colon - text);
	memcpy(host, text, length);
	host[length] = '\0';
	if (host[0] == '[' && length > 2 && host[length - 1] == ']') {
		host[length - 1] = '\0';
		if (inet_pton(AF_INET6, host + 1, &address.address) != 1)
			return -EINVAL;
	} else if (inet_pton(AF_INET, host, &four) == 1) {
		map_address(&address.address, &four);
	} else {
		return -EINVAL;
	}
	*ret_address = address;
	return 0;
}

static bool is_any(const struct in6_addr *address)
{
	static const unsigned char four[4] = {};

	return IN6_IS_ADDR_UNSPECIFIED(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && memcmp(&address->s6_addr[12], four, 4) == 0);
}

static bool is_same(const struct socket_address *a, const struct socket_address *b)
{
	return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->address, &b->address);
}

void socket_owners_note(struct socket_owners *owners, const struct socket_ends *wanted,
			const struct socket_ends *found, uint64_t cgroup)
{
	bool exact = is_same(&found->local, &wanted->local);

	if (found->local.port != wanted->local.port)
		return;
	if (wanted->remote.port && !is_same(&found->remote, &wanted->remote))
		return;
	if (!exact && (owners->exact || !is_any(&found->local.address)))
		return;
	if (exact && !owners->exact)
		*owners = (struct socket_owners){.exact = true};
	for (size_t i = 0; i < owners->count; i++)
		if (owners->cgroups[i] == cgroup)
			return;
	if (owners->count < SOCKETS_CGROUPS_MAX)
		owners->cgroups[owners->count++] = cgroup;
}

/* 0: the kernel has not said, as of a connection that waits for its end. */
static uint64_t cgroup_of(const struct nlmsghdr *header)
{
	const struct inet_diag_msg *found = NLMSG_DATA(header);
	const struct rtattr *attribute = (const struct rtattr *)(found + 1);
	unsigned int left = header->nlmsg_len - (unsigned int)NLMSG_LENGTH(sizeof(*found));
	uint64_t cgroup = 0;

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		if (attribute->rta_type == INET_DIAG_CGROUP_ID &&
		    RTA_PAYLOAD(attribute) == sizeof(cgroup))
			memcpy(&cgroup, RTA_DATA(attribute), sizeof(cgroup));
	return cgroup;
}

static struct socket_address end_of(const struct inet_diag_msg *found, const __be32 words[4],
				    __be16 port)
{
	struct socket_address end = {.port = ntohs(port)};

	if (found->idiag_family == AF_INET)
		map_address(&end.address, words);
	else
		memcpy(&end.address, words, sizeof(end.address));
	return end;
}

/* Called for each socket that the kernel lists. */
typedef void on_socket(void *context, const struct nlmsghdr *header);

/* The next of a packet's messages that is a socket's. 1: go on reading; 0: that was all; -errno. */
static int read_packet(const void *packet, size_t size, on_socket *call, void *context)
{
	for (const struct nlmsghdr *header = packet; NLMSG_OK(header, size);
	     header = NLMSG_NEXT(header, size)) {
		if (header->nlmsg_type == NLMSG_DONE)
			return 0;
		if (header->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *error = NLMSG_DATA(header);

			return header->nlmsg_len >= NLMSG_LENGTH(sizeof(*error)) && error->error
				       ? error->error
				       : -EPROTO;
		}
		if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
			return -EPROTO;
		call(context, header);
	}
	return 1;
}

static struct socket_ends ends_of(const struct nlmsghdr *header)
{
	const struct inet_diag_msg *found = NLMSG_DATA(header);

	return (struct socket_ends){
		.local = end_of(found, found->id.idiag_src, found->id.idiag_sport),
		.remote = end_of(found, found->id.idiag_dst, found->id.idiag_dport),
	};
}

/* Sockets with these ports, 0 for any. */
static int list(int socket, int family, int protocol, const struct socket_ends *wanted,
		on_socket *call, void *context)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
	} ask = {
		.header = {.nlmsg_len = sizeof(ask),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = (uint8_t)family,
			    .sdiag_protocol = (uint8_t)protocol,
			    .idiag_states = UINT32_MAX,
			    .id = {.idiag_sport = htons(wanted->local.port),
				   .idiag_dport = htons(wanted->remote.port)}},
	};
	_Alignas(struct nlmsghdr) char packet[32768];
	int r = 1;

	if (send(socket, &ask, sizeof(ask), 0) < 0)
		return -errno;
	while (r > 0) {
		ssize_t n = recv(socket, packet, sizeof(packet), 0);

		if (n < 0 && errno == EINTR)
			continue;
		r = n < 0 ? -errno : read_packet(packet, (size_t)n, call, context);
	}
	return r;
}

struct owners_search {
	const struct socket_ends *wanted;
	struct socket_owners owners;
};

static void on_owner(void *context, const struct nlmsghdr *header)
{
	struct owners_search *search = context;
	struct socket_ends ends = ends_of(header);
	uint64_t cgroup = cgroup_of(header);

	if (cgroup)
		socket_owners_note(&search->owners, search->wanted, &ends, cgroup);
}

int socket_owners_find(const struct socket_ends *wanted, struct socket_owners *ret_owners)
{
	static const int families[] = {AF_INET, AF_INET6}, protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	_cleanup_(closep) int netlink =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct owners_search search = {.wanted = wanted};
	int r = netlink < 0 ? -errno : 0;
	size_t missing = 0;

	for (size_t i = 0; i < 4 && r == 0; i++) {
		r = list(netlink, families[i / 2], protocols[i % 2], wanted, on_owner, &search);
		/* Without IPv6, say, there are no such sockets to tell of. */
		if (r == -ENOENT && ++missing < 4)
			r = 0;
	}
	if (r == 0)
		*ret_owners = search.owners;
	return r;
}

/* --- a connection ------------------------------------------------------------------------- */

void socket_connection_note(struct socket_connection *connection, enum socket_end end,
			    unsigned int state, uint64_t cookie)
{
	uint64_t *of = end == SOCKET_END_LOCAL ? &connection->local : &connection->remote;
	bool connected = state == TCP_ESTABLISHED ||
			 (end == SOCKET_END_LOCAL ? state == TCP_FIN_WAIT1 || state == TCP_FIN_WAIT2
						  : state == TCP_CLOSE_WAIT);

	/* Two of them, as of two network devices, are no connection that could be told apart. */
	if (!connected || (*of && *of != cookie))
		connection->others = true;
	else
		*of = cookie;
}

struct connection_search {
	struct socket_ends wanted;
	enum socket_end end;
	struct socket_connection found;
};

static void on_end(void *context, const struct nlmsghdr *header)
{
	const struct inet_diag_msg *message = NLMSG_DATA(header);
	struct connection_search *search = context;
	struct socket_ends ends = ends_of(header);

	if (is_same(&ends.local, &search->wanted.local) &&
	    is_same(&ends.remote, &search->wanted.remote))
		socket_connection_note(&search->found, search->end, message->idiag_state,
				       (uint64_t)message->id.idiag_cookie[1] << 32 |
					       message->id.idiag_cookie[0]);
}

int socket_connection_look(const struct socket_ends *wanted,
			   struct socket_connection *ret_connection)
{
	static const int families[] = {AF_INET, AF_INET6};
	_cleanup_(closep) int netlink =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct connection_search search = {};
	int r = netlink < 0 ? -errno : 0;
	size_t missing = 0;

	for (size_t i = 0; i < 4 && r == 0; i++) {
		search.end = i % 2 ? SOCKET_END_REMOTE : SOCKET_END_LOCAL;
		search.wanted = i % 2 ? (struct socket_ends){wanted->remote, wanted->local}
				      : *wanted;
		r = list(netlink, families[i / 2], IPPROTO_TCP, &search.wanted, on_end, &search);
		if (r == -ENOENT && ++missing < 4)
			r = 0;
	}
	if (r == 0)
		*ret_connection = search.found;
	return r;
}

bool socket_connection_stayed(const struct socket_connection *before,
			      const struct socket_connection *after, uint64_t cookie)
{
	/* UDP has no connection, and what leads to another host has one end here. */
	if (cookie && (before->remote != cookie || after->remote != cookie))
		return false;
	if (before->others || after->others || before->local != after->local ||
	    before->remote != after->remote)
		return false;
	return before->local || !before->remote;
}
