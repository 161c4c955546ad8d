// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: joins a group through io_uring
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: sets how far datagrams to groups go so
 * Record: socket $ANY
 * Needs: symbol io_uring_cmd_sock
 */
#include "tests/redteam/group.h"
#include "tests/redteam/uring.h"

/*
 * An entry's layout for this is younger than build hosts' headers: cmd_op, level and optname,
 * optlen, optval.
 */
static int set_by_ring(int option, const void *value, unsigned int length)
{
	struct io_uring_sqe entry = {.opcode = RING_COMMAND,
				     .fd = socket_or_broken(AF_INET, SOCK_DGRAM),
				     .off = RING_SET_OPTION,
				     .addr = (unsigned long long)option << 32 | SOL_IP,
				     .file_index = length};

	entry.addr3 = (unsigned long)value;
	return uring_once(entry);
}

static int attack(void)
{
	struct ip_mreqn request = {.imr_ifindex = NEED((int)if_nametoindex("lo"))};

	inet_pton(AF_INET, GROUP_V4, &request.imr_multiaddr);
	return set_by_ring(IP_ADD_MEMBERSHIP, &request, sizeof(request));
}

static int control(void)
{
	int hops = 1;

	return set_by_ring(IP_MULTICAST_TTL, &hops, sizeof(hops));
}

REDTEAM(.attack = attack, .control = control)
