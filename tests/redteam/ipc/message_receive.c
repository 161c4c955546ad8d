// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: takes a message from a queue of the host
 * Hook: ipc_permission
 * Errno: EACCES
 * Control: takes one from its own
 * Record: ipc $ANY
 */
#include <sys/ipc.h>
#include <sys/msg.h>

#include "tests/redteam/ipc.h"

struct message {
	long type;
	char text[8];
};

static int make_queue(void)
{
	int id = NEED(msgget(IPC_PRIVATE, IPC_CREAT | 0600));
	struct message message = {.type = 1};

	NEED(msgsnd(id, &message, sizeof(message.text), 0));
	return id;
}

static void setup(void)
{
	struct msqid_ds owner = {.msg_perm = {.uid = attacker(), .gid = attacker(), .mode = 0600},
				 .msg_qbytes = 4096};
	int id = make_queue();

	NEED(msgctl(id, IPC_SET, &owner));
	keep_number(id);
}

static int take(int id)
{
	struct message message;

	return outcome(msgrcv(id, &message, sizeof(message.text), 0, IPC_NOWAIT));
}

static int attack(void)
{
	return take(kept_number());
}

static int control(void)
{
	int id = make_queue(), error = take(id);

	NEED(msgctl(id, IPC_RMID, NULL));
	return error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
