// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: attaches a shared memory segment as code
 * Hook: mmap_file
 * Errno: EACCES
 * Control: attaches one as data
 * Record: mmap @memfd
 */
#include <sys/shm.h>

#include "tests/redteam/attack.h"

static int attack(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700)), error;

	error = shmat(id, NULL, SHM_EXEC) == (void *)-1 ? errno : 0;
	shmctl(id, IPC_RMID, NULL);
	return error;
}

static int control(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700)), error;

	error = shmat(id, NULL, 0) == (void *)-1 ? errno : 0;
	shmctl(id, IPC_RMID, NULL);
	return error;
}

REDTEAM(.attack = attack, .control = control)
