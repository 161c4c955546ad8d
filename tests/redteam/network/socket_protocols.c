// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: tries every other protocol of the internet families for one whose sockets the kernel
 *   gives it
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes sockets of the protocols that it may use
 * Record: socket $ANY
 * As: root bare user
 */
#include "tests/redteam/net.h"

#define LAST 263 /* linux/in.h: IPPROTO_MAX */

/* Of streams and datagrams; by raw sockets anything is one. */
static bool is_usual(int type, int protocol)
{
	return !protocol || (type == SOCK_STREAM && protocol == IPPROTO_TCP) ||
	       (type == SOCK_DGRAM && protocol == IPPROTO_UDP);
}

/*
 * Protocols that no kernel has a number for are refused like others, before it is looked for them.
 */
static int attack(void)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	int result = EACCES;

	/* From behind: there is one that Linux has had for every user since 5.6. */
	for (int protocol = LAST; protocol >= 0; protocol--)
		for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
			int error = is_usual(types[i], protocol)
					    ? EACCES
					    : try_socket(i % 2 ? AF_INET6 : AF_INET, types[i],
							 protocol);

			if (!error)
				return 0;
			if (error != EACCES)
				result = error;
		}
	return result;
}

static int control(void)
{
	int error = try_socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);

	return error ? error : try_socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
}

REDTEAM(.attack = attack, .control = control)
