// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: removes a message queue of the host
 * Hook: msg_queue_msgctl
 * Errno: EACCES
 * Control: removes its own
 * Record: ipc $ANY
 */
#include <sys/ipc.h>
#include <sys/msg.h>

#include "tests/redteam/ipc.h"

static void setup(void)
{
	struct msqid_ds owner = {.msg_perm = {.uid = attacker(), .gid = attacker(), .mode = 0600},
				 .msg_qbytes = 4096};
	int id = NEED(msgget(IPC_PRIVATE, IPC_CREAT | 0600));

	NEED(msgctl(id, IPC_SET, &owner));
	keep_number(id);
}

static int attack(void)
{
	return outcome(msgctl(kept_number(), IPC_RMID, NULL));
}

static int control(void)
{
	return outcome(msgctl(NEED(msgget(IPC_PRIVATE, IPC_CREAT | 0600)), IPC_RMID, NULL));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
