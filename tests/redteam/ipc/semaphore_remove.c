// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes semaphores of the host
 * Hook: sem_semctl
 * Errno: EACCES
 * Control: removes its own
 * Record: ipc $ANY
 */
#include <sys/ipc.h>
#include <sys/sem.h>

#include "tests/redteam/ipc.h"

static void setup(void)
{
	int id = NEED(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600));
	struct semid_ds owner = {.sem_perm = {.uid = attacker(), .gid = attacker(), .mode = 0600}};

	NEED(semctl(id, 0, IPC_SET, &owner));
	keep_number(id);
}

static int attack(void)
{
	return outcome(semctl(kept_number(), 0, IPC_RMID));
}

static int control(void)
{
	return outcome(semctl(NEED(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)), 0, IPC_RMID));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
