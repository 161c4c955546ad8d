// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: attaches a shared memory segment of the host
 * Hook: ipc_permission
 * Errno: EACCES
 * Control: attaches one of its own
 * Record: ipc $ANY
 */
#include <sys/ipc.h>
#include <sys/shm.h>

#include "tests/redteam/ipc.h"

static void setup(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	struct shmid_ds owner = {.shm_perm = {.uid = attacker(), .gid = attacker(), .mode = 0600}};

	NEED(shmctl(id, IPC_SET, &owner));
	keep_number(id);
}

static int attach(int id)
{
	return shmat(id, NULL, 0) == (void *)-1 ? errno : 0;
}

static int attack(void)
{
	return attach(kept_number());
}

static int control(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)), error = attach(id);

	NEED(shmctl(id, IPC_RMID, NULL));
	return error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
