// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: loads a BPF program
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
	struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
				  {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
			       .insns = (unsigned long)code,
			       .insn_cnt = 2,
			       .license = (unsigned long)"GPL"};

	return outcome(syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
}

REDTEAM(.attack = attack)
