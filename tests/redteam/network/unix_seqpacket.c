// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to a unix packet socket outside
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: uses its own file
 * Record: connect $HOST/seqpacket
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_SEQPACKET, address_path(host_place("seqpacket")));
}

REDTEAM(.attack = attack)
