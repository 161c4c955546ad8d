// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a shared memory segment of the host
 * Hook: shm_shmctl
 * Errno: EACCES
 * Control: removes one of its own
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

static int attack(void)
{
	return outcome(shmctl(kept_number(), IPC_RMID, NULL));
}

static int control(void)
{
	return outcome(shmctl(NEED(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)), IPC_RMID, NULL));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
