// SPDX-License-Identifier: Apache-2.0
/*
 * Disables the directory cache until its input ends: see bpf/core/directory_cache.bpf.h. Writes to
 * the pinned map without the daemon.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/enforcement.h"
#include "kernel/pins.h"

#define NOTHING_REMEMBERED (1ull << 63)

/* More events than can happen between the read and the write. */
#define SKIPPED (1ull << 32)

int main(void)
{
	unsigned long long changes;
	unsigned int key = 0;
	char byte;
	int fd = pin_get(PIN_MAPS, "changed_directories");

	if (fd < 0 || bpf_map_lookup_elem(fd, &key, &changes) < 0)
		return 2;
	changes |= NOTHING_REMEMBERED;
	if (bpf_map_update_elem(fd, &key, &changes, BPF_ANY) < 0)
		return 2;
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	/* A count that was used before must not occur again. */
	changes = (changes & ~NOTHING_REMEMBERED) + SKIPPED;
	return bpf_map_update_elem(fd, &key, &changes, BPF_ANY) < 0 ? 2 : 0;
}
