// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes more terminals than one execution may have, by many threads at the same time
 * Hook: file_open
 * Errno: ENOSPC
 * Control: makes as many one after the other
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: open /dev/$ANYptmx
 * Contexts: thread handler
 */
#include <stdatomic.h>

#include "tests/redteam/terminals.h"

#define THREADS	   100
#define EACH	   64 /* TERMINALS_EACH */
#define STACK_SIZE 65536

static atomic_int made;
static atomic_bool begin;

static void *make_one(void *unused)
{
	while (!begin)
		;
	if (open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0)
		made++;
	return unused;
}

static int attack(void)
{
	pthread_t threads[THREADS];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &small, make_one, NULL))
			broken("pthread_create");
	begin = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return made > EACH ? 0 : ENOSPC;
}

static int control(void)
{
	for (int i = 0; i < THREADS; i++)
		close(new_master());
	return use_own_terminal();
}

REDTEAM(.attack = attack, .control = control)
