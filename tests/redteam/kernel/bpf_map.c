// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a BPF map
 * Hook: bpf
 * Errno: EPERM
 * Control: uses its own file
 * Record: bpf $ANY
 * As: root
 */
#include <linux/bpf.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return outcome(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)));
}

REDTEAM(.attack = attack)
