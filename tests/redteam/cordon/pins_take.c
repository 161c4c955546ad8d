// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes hold of the pinned map that has the executions' policies
 * Hook: bpf
 * Errno: EPERM
 * Control: uses its own file
 * Record: bpf $ANY
 * As: root
 */
#include "tests/redteam/bpf_object.h"

static int attack(void)
{
	union bpf_attr attr = {.pathname = (unsigned long)"/sys/fs/bpf/cordon/maps/executions"};

	return outcome(syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr)));
}

REDTEAM(.attack = attack)
