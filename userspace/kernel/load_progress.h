/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far loading the programs is. libbpf loads them all in one call and tells nothing meanwhile,
 * so a thread counts those that the kernel has taken.
 */
#ifndef CORDON_KERNEL_LOAD_PROGRESS_H
#define CORDON_KERNEL_LOAD_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* So many programs of `all`. Called by another thread, while the one that loads waits. */
typedef void load_progress_step(void *data, uint64_t done, uint64_t all);

/* Who is told of every load of this process from now on; NULL: nobody. */
void load_progress_to(load_progress_step *step, void *data);

struct load_progress {
	pthread_t thread;
	bool running;
	atomic_bool over;
	uint32_t newest; /* program in the kernel before the first was loaded */
	uint64_t all;
};

/* Nobody waits for these to fail: then nothing is told. */
void load_progress_begin(struct load_progress *p, uint64_t all);
void load_progress_end(struct load_progress *p);

#endif
