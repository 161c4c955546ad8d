/* SPDX-License-Identifier: Apache-2.0 */
/* Who has made the sockets that have an address of this host: the kernel's own list (sock_diag). */
#ifndef CORDON_CLI_SOCKETS_H
#define CORDON_CLI_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sockets of more cgroups than this share no address. */
#define SOCKETS_CGROUPS_MAX 16

struct socket_address {
	struct in6_addr address; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t port;		 /* host order */
};

/* "192.0.2.1:80", "[2001:db8::1]:80". -EINVAL. */
int socket_address_parse(const char *text, struct socket_address *ret_address);

struct socket_owners {
	uint64_t cgroups[SOCKETS_CGROUPS_MAX]; /* each once: the kernel's numbers */
	size_t count;
	bool exact; /* one of them has this very address, not every address */
};

/*
 * Which sockets are meant: those with this local address, and, unless its port is 0, connected to
 * that other one. Connections to different places may share a local address.
 */
struct socket_ends {
	struct socket_address local, remote;
};

/*
 * A TCP connection as both of its sockets say, where both are of this network namespace. A cookie
 * names one socket and no other, for as long as the host runs.
 */
struct socket_connection {
	uint64_t local, remote; /* cookies of the sockets that are connected; 0: there is none */
	bool others;		/* a socket has these ends and is not, or no longer, connected */
};

enum socket_end { SOCKET_END_LOCAL, SOCKET_END_REMOTE };

/*
 * Notes a socket of TCP at one end, in a state as the kernel numbers it (TCP_ESTABLISHED). The
 * local end is connected from the handshake until the other end has closed, the remote one until it
 * has closed itself: so long, no other socket can have these two addresses.
 */
void socket_connection_note(struct socket_connection *connection, enum socket_end end,
			    unsigned int state, uint64_t cookie);

/* Returns 0, or as socket_owners_find(). */
int socket_connection_look(const struct socket_ends *wanted,
			   struct socket_connection *ret_connection);

/*
 * Whether what was found out between two looks is true of one connection. `cookie`: of the remote
 * end's socket, as whoever has that found it (SO_COOKIE); 0: not given.
 */
bool socket_connection_stayed(const struct socket_connection *before,
			      const struct socket_connection *after, uint64_t cookie);

/*
 * Notes a socket with these ends, if it is meant. Those bound to every address count only where
 * none is bound to the one wanted: a server's listener, say, beside the connection that was
 * accepted.
 */
void socket_owners_note(struct socket_owners *owners, const struct socket_ends *wanted,
			const struct socket_ends *found, uint64_t cgroup);

/*
 * TCP and UDP sockets of this network namespace that are meant. What was accepted is its
 * listener's; what was passed on stays its maker's. No owners: there is no such socket, or it is
 * closed. -ENOENT: the kernel has no list (modules tcp_diag and udp_diag); -errno of it.
 */
int socket_owners_find(const struct socket_ends *wanted, struct socket_owners *ret_owners);

#endif
