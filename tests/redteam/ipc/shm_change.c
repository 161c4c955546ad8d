// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a shared memory segment of the host to everybody
 * Hook: shm_shmctl
 * Errno: EACCES
 * Control: changes one of its own
 * Record: ipc $ANY
 */
#include <sys/ipc.h>
#include <sys/shm.h>

#include "tests/redteam/ipc.h"

static int change(int id)
{
	struct shmid_ds wide = {.shm_perm = {.uid = attacker(), .gid = attacker(), .mode = 0666}};

	return outcome(shmctl(id, IPC_SET, &wide));
}

static void setup(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));

	change(id);
	keep_number(id);
}

static int attack(void)
{
	return change(kept_number());
}

static int control(void)
{
	int id = NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)), error = change(id);

	NEED(shmctl(id, IPC_RMID, NULL));
	return error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
