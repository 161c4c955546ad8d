/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps mappings of BPF maps from children. */
#include "kernel/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"

/* The name that bpf_map_new_fd() assigns (kernel/bpf/syscall.c). */
#define MAP_NAME "anon_inode:bpf-map"

void mappings_keep_from_children(void)
{
	_cleanup_(fclosep) FILE *file = fopen("/proc/self/maps", "re");
	_cleanup_(freep) char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		unsigned long begin, end;

		if (strstr(line, MAP_NAME) && sscanf(line, "%lx-%lx", &begin, &end) == 2)
			(void)madvise((void *)begin, end - begin, MADV_DONTFORK);
	}
}
