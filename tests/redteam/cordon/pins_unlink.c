// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes the attachment of a program that confines it
 * Hook: path_unlink
 * Errno: EACCES
 * Control: uses its own file
 * Record: unlink /sys/fs/bpf/$ANY
 * As: root
 */
#include "tests/redteam/attack.h"

/* Unconfined, a stand-in, so that the rest of the catalogue meets what confines it. */
static int attack(void)
{
	if (!getenv("REDTEAM_CONFINED")) {
		NEED(mkdir("/sys/fs/bpf/stand-in", 0755));
		return outcome(rmdir("/sys/fs/bpf/stand-in"));
	}
	return outcome(unlink("/sys/fs/bpf/cordon/links/cordon_file_open"));
}

REDTEAM(.attack = attack)
