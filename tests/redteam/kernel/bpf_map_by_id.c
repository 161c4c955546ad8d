// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes hold of a BPF map of whatever number
 * Hook: bpf
 * Errno: EPERM
 * Control: uses its own file
 * Record: bpf $ANY
 * As: root
 */
#include "tests/redteam/bpf_object.h"

static int attack(void)
{
	return take_any_bpf_object(BPF_MAP_GET_FD_BY_ID);
}

REDTEAM(.attack = attack)
