/* SPDX-License-Identifier: Apache-2.0 */
/* The address of the metrics endpoint: a unix socket, or a port of loopback. */
#ifndef CORDON_WATCH_ADDRESS_H
#define CORDON_WATCH_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/failure.h"

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_storage storage;
	};
	socklen_t size;
};

/*
 * Parses "unix:/PATH", "127.0.0.1:PORT" or "[::1]:PORT". Returns 0, -EINVAL for other forms, or
 * -EPERM for an address that other hosts can reach, because metrics are not meant for them.
 */
int address_parse(const char *text, struct address *ret_address, struct failure *failure);

/*
 * Listens on the address. A unix socket (0660) replaces a stale one without a listener. Returns 0,
 * -EADDRINUSE if another process listens, -EEXIST if the path is not a socket, or the -ERRNO of
 * socket(2), bind(2) or listen(2).
 */
int address_listen(const struct address *address, int *ret_fd, struct failure *failure);

static inline bool address_is_unix(const struct address *address)
{
	return address->any.sa_family == AF_UNIX;
}

#endif
