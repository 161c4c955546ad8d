// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: lists loaded BPF programs
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
	union bpf_attr attr = {.start_id = 0};
	int error = outcome(syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)));

	/* None is loaded where nothing is confined yet. */
	return error == ENOENT ? 0 : error;
}

REDTEAM(.attack = attack)
