/* SPDX-License-Identifier: Apache-2.0 */
/* Where series are served: a unix socket, or a port of loopback. */
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
 * "unix:/PATH", "127.0.0.1:PORT" or "[::1]:PORT". -EINVAL: none of these; -EPERM: an address that
 * others than this host can reach, for which series are not meant.
 */
int address_parse(const char *text, struct address *ret_address, struct failure *failure);

/*
 * Listens there. A unix socket (0660) takes the place of one that nobody listens on any more.
 * -EADDRINUSE: somebody listens there; -EEXIST: the path is something else; or what socket(2),
 * bind(2) or listen(2) said.
 */
int address_listen(const struct address *address, int *ret_fd, struct failure *failure);

static inline bool address_is_unix(const struct address *address)
{
	return address->any.sa_family == AF_UNIX;
}

#endif
