/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that counts the programs that the kernel has accepted so far. */
#include "kernel/load_progress.h"

#include <bpf/bpf.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"

#define EVERY_MSEC 100

static load_progress_step *told;
static void *told_data;

void load_progress_to(load_progress_step *step, void *data)
{
	told = step;
	told_data = data;
}

/*
 * The kernel assigns program numbers in ascending order. Programs of other processes meanwhile are
 * few and mostly short-lived.
 */
static uint64_t count_since(uint32_t newest, uint32_t *ret_newest)
{
	uint64_t count = 0;
	uint32_t id = newest;

	while (bpf_prog_get_next_id(id, &id) == 0)
		count++;
	*ret_newest = id;
	return count;
}

static void *count_on(void *data)
{
	const struct timespec pause = {.tv_nsec = EVERY_MSEC * (long)NSEC_PER_MSEC};
	struct load_progress *p = data;

	while (!atomic_load(&p->over)) {
		uint32_t ignored;
		uint64_t count = count_since(p->newest, &ignored);

		told(told_data, count < p->all ? count : p->all, p->all);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

void load_progress_begin(struct load_progress *p, uint64_t all)
{
	sigset_t every, before;

	*p = (struct load_progress){.all = all};
	if (!told)
		return;
	(void)count_since(0, &p->newest);
	/* Signals must go to the original thread. */
	sigfillset(&every);
	if (pthread_sigmask(SIG_SETMASK, &every, &before) != 0)
		return;
	p->running = pthread_create(&p->thread, NULL, count_on, p) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void load_progress_end(struct load_progress *p)
{
	if (!p->running)
		return;
	atomic_store(&p->over, true);
	(void)pthread_join(p->thread, NULL);
	p->running = false;
}
