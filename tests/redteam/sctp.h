/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that SCTP takes as options (net/sctp/socket.c): several in one. */
#ifndef CORDON_TESTS_REDTEAM_SCTP_H
#define CORDON_TESTS_REDTEAM_SCTP_H

#include "tests/redteam/net.h"

#define SCTP_BIND_ADD 100 /* SCTP_SOCKOPT_BINDX_ADD */
#define SCTP_CONNECT  110 /* SCTP_SOCKOPT_CONNECTX */

static inline int give_sctp_address(int option, struct address address)
{
	int fd = NEED(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP));
	int error = outcome(setsockopt(fd, IPPROTO_SCTP, option, &address.any, address.length));

	close(fd);
	/* Whoever is there has answered that it does not listen. */
	return error == ECONNREFUSED ? 0 : error;
}

#endif
