/* SPDX-License-Identifier: Apache-2.0 */
/* What outlives the tasks of an execution though no name leads to it: System V objects. */
#include "daemon/execution/left_behind.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static int remove_object(const struct cordon_ipc_object *object)
{
	switch (object->kind) {
	case CORDON_IPC_SHM:
		return shmctl(object->id, IPC_RMID, NULL);
	case CORDON_IPC_SEM:
		return semctl(object->id, 0, IPC_RMID);
	default:
		return msgctl(object->id, IPC_RMID, NULL);
	}
}

void left_behind_remove(struct daemon *daemon, uint32_t slot, const char *id)
{
	struct cordon_ipc_list list;
	int r;

	if (enforcement_execution(daemon->enforcement, slot)->ipc_objects == 0)
		return;
	r = enforcement_list_ipc(daemon->enforcement, slot, &list);
	if (r < 0) {
		daemon_say(daemon, "execution %s: its System V objects cannot be listed: %s", id,
			   strerror(-r));
		return;
	}
	for (uint32_t i = 0; i < list.count && i < CORDON_MAX_IPC; i++) {
		/* Somebody outside may have been faster. */
		if (remove_object(&list.objects[i]) < 0 && errno != EINVAL && errno != EIDRM)
			daemon_say(daemon, "execution %s: System V object %d stays: %m", id,
				   list.objects[i].id);
	}
}
