/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress of loading the programs. libbpf loads them in one call without callbacks, so a thread
 * counts the programs that the kernel has accepted.
 */
#ifndef CORDON_KERNEL_LOAD_PROGRESS_H
#define CORDON_KERNEL_LOAD_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Reports `done` of `all` programs. Called by another thread while the loading thread waits. */
typedef void load_progress_step(void *data, uint64_t done, uint64_t all);

/* Sets the receiver of the progress of all later loads in this process; NULL: none. */
void load_progress_to(load_progress_step *step, void *data);

struct load_progress {
	pthread_t thread;
	bool running;
	atomic_bool over;
	uint32_t newest; /* newest program in the kernel before the load */
	uint64_t all;
};

/* They cannot fail: if the thread cannot be started, nothing is reported. */
void load_progress_begin(struct load_progress *p, uint64_t all);
void load_progress_end(struct load_progress *p);

#endif
