// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a semaphore of the host
 * Hook: ipc_permission
 * Errno: EACCES
 * Control: takes its own
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

static int operate(int id)
{
	struct sembuf up = {.sem_op = 1};

	return outcome(semop(id, &up, 1));
}

static int attack(void)
{
	return operate(kept_number());
}

static int control(void)
{
	int id = NEED(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)), error = operate(id);

	NEED(semctl(id, 0, IPC_RMID));
	return error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
