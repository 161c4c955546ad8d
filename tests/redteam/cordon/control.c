// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: connects to the daemon that confines it
 * Hook: unix_stream_connect
 * Errno: EACCES
 * Control: uses its own file
 * Record: connect /run/cordon/control.sock
 * As: root
 */
#include "tests/redteam/net.h"

static int attack(void)
{
	return try_connect(SOCK_SEQPACKET, address_path("/run/cordon/control.sock"));
}

REDTEAM(.attack = attack)
