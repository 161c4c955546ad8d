// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: tries every other family for one whose sockets the kernel gives it
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes sockets of the three families that it may use
 * Record: socket $ANY
 */
#include "tests/redteam/net.h"

#define FAMILIES 64

static bool is_usual(int family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6;
}

/*
 * 0: there is such a socket; else EACCES if that is what was said of one that the kernel might
 * have.
 */
static int try_family(int family)
{
	int refused = EAFNOSUPPORT;

	for (int type = SOCK_STREAM; type <= SOCK_PACKET; type++) {
		int error = try_socket(family, type, 0);

		if (!error || error == EACCES)
			refused = error;
		if (!error)
			break;
	}
	return refused;
}

static int attack(void)
{
	int result = EAFNOSUPPORT;

	for (int family = 1; family < FAMILIES && result; family++) {
		int error = is_usual(family) ? EAFNOSUPPORT : try_family(family);

		if (error != EAFNOSUPPORT)
			result = error;
	}
	return result;
}

static int control(void)
{
	int error = try_socket(AF_UNIX, SOCK_STREAM, 0);

	if (!error)
		error = try_socket(AF_INET, SOCK_STREAM, 0);
	return error ? error : try_socket(AF_INET6, SOCK_DGRAM, 0);
}

REDTEAM(.attack = attack, .control = control)
