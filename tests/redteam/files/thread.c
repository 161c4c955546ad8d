// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside from a thread
 * Hook: file_open
 * Errno: EACCES
 * Control: a thread reads its own file
 * Record: open $VICTIM/secret
 */
#include <pthread.h>

#include "tests/redteam/attack.h"

static void *try_read(void *path)
{
	return (void *)(long)read_file(path);
}

static int attack(void)
{
	pthread_t thread;
	void *error;

	NEED(-pthread_create(&thread, NULL, try_read, (void *)victim("secret")));
	pthread_join(thread, &error);
	return (int)(long)error;
}

static int control(void)
{
	pthread_t thread;
	void *error;

	NEED(-pthread_create(&thread, NULL, try_read, "own"));
	pthread_join(thread, &error);
	return (int)(long)error;
}

REDTEAM(.attack = attack, .control = control)
