/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and sockets for attacks. */
#ifndef CORDON_TESTS_REDTEAM_NET_H
#define CORDON_TESTS_REDTEAM_NET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/redteam/attack.h"

/* The host listens on both, TCP and UDP; the policy names one. */
#define PORT_ALLOWED   7101
#define PORT_FORBIDDEN 7102
/* The policy allows to connect to any address here: all but the host's own and its cloud's. */
#define PORT_ANYWHERE 7106
#define OUTSIDE_V4    "198.51.100.7"
#define OUTSIDE_V6    "2001:db8::7"
/*
 * The host's own on the link that leads there, everybody's on it, and one that is the host's by a
 * route alone (outside.py).
 */
#define LINK	     "redteam0"
#define OWN_V4	     "198.51.100.1"
#define OWN_V6	     "2001:db8::1"
#define EVERYBODY_V4 "198.51.100.255"
#define ROUTED_V4    "203.0.113.9"
/* The host translates its own address to one outside, and one outside to its own. */
#define PUBLISHED_V4 "198.51.100.2"
#define PROXIED_V4   "192.0.2.9"
/* Where the policy lets an execution listen. */
#define PORT_OWN 7103

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un un;
	};
	socklen_t length;
};

static inline struct address address_v4(const char *ip, int port)
{
	struct address address = {.v4 = {.sin_family = AF_INET, .sin_port = htons(port)},
				  .length = sizeof(struct sockaddr_in)};

	inet_pton(AF_INET, ip, &address.v4.sin_addr);
	return address;
}

static inline struct address address_v6(const char *ip, int port)
{
	struct address address = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)},
				  .length = sizeof(struct sockaddr_in6)};

	inet_pton(AF_INET6, ip, &address.v6.sin6_addr);
	return address;
}

static inline struct address address_path(const char *path)
{
	struct address address = {.un.sun_family = AF_UNIX, .length = sizeof(struct sockaddr_un)};

	snprintf(address.un.sun_path, sizeof(address.un.sun_path), "%s", path);
	return address;
}

static inline struct address address_abstract(const char *name)
{
	struct address address = {.un.sun_family = AF_UNIX};

	snprintf(address.un.sun_path + 1, sizeof(address.un.sun_path) - 1, "%s", name);
	address.length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
	return address;
}

static inline int socket_or_broken(int family, int type)
{
	return NEED(socket(family, type | SOCK_CLOEXEC, 0));
}

static inline int try_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static inline int try_connect(int type, struct address address)
{
	int fd = socket_or_broken(address.any.sa_family, type);
	int error = outcome(connect(fd, &address.any, address.length));

	close(fd);
	return error;
}

static inline int try_send(int family, struct address address)
{
	int fd = socket_or_broken(family, SOCK_DGRAM);
	int error = outcome(sendto(fd, "x", 1, 0, &address.any, address.length));

	close(fd);
	return error;
}

/* How a message is received: returns a length, or -1. */
typedef ssize_t receive_function(int fd, struct msghdr *message);

static inline ssize_t receive_message(int fd, struct msghdr *message)
{
	return recvmsg(fd, message, MSG_CMSG_CLOEXEC);
}

/*
 * Asks the host for a descriptor: of the file that it names, or "socket:KIND:WHERE" (host.c). -1:
 * it did not get through.
 */
static inline int receive_descriptor_by(const char *what, receive_function *receive)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct address address = address_path(open_place("passer"));
	int fd = socket_or_broken(AF_UNIX, SOCK_STREAM);

	NEED(connect(fd, &address.any, address.length));
	NEED(write(fd, what, strlen(what)));
	NEED(receive(fd, &message));
	close(fd);
	if (byte != 'y')
		broken("the host could not open it");
	if (message.msg_flags & MSG_CTRUNC || message.msg_controllen < CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static inline int receive_descriptor(const char *what)
{
	return receive_descriptor_by(what, receive_message);
}

/* What comes of a socket that the host has opened. */
static inline int use_received(const char *what)
{
	int fd = receive_descriptor(what), error;

	if (fd < 0)
		return EACCES;
	error = outcome(send(fd, "x", 1, MSG_NOSIGNAL));
	close(fd);
	/* The other end may have closed it by now. */
	return error == EPIPE || error == ECONNRESET ? 0 : error;
}

static inline int try_bind(int type, struct address address)
{
	int fd = socket_or_broken(address.any.sa_family, type), one = 1, error;

	NEED(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)));
	error = outcome(bind(fd, &address.any, address.length));
	close(fd);
	return error;
}

#endif
