/* SPDX-License-Identifier: Apache-2.0 */
/* Taking hold of objects of the kernel's BPF by number or by path. */
#ifndef CORDON_TESTS_REDTEAM_BPF_OBJECT_H
#define CORDON_TESTS_REDTEAM_BPF_OBJECT_H

#include <linux/bpf.h>

#include "tests/redteam/attack.h"

#define BPF_IDS 100000

/* 0 as soon as one was got; any refusal but "there is none" ends the search. */
static inline int take_any_bpf_object(int command)
{
	for (unsigned int id = 1; id < BPF_IDS; id++) {
		union bpf_attr attr = {.map_id = id};
		long fd = syscall(SYS_bpf, command, &attr, sizeof(attr));

		if (fd >= 0)
			return 0;
		if (errno != ENOENT)
			return errno;
	}
	return BROKEN;
}

#endif
