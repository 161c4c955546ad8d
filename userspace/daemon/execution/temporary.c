/* SPDX-License-Identifier: Apache-2.0 */
/* Who shares temporary files: a number that is the same for those who do. */
#include "daemon/execution/temporary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "kernel/enforcement.h"

/* What has neither session nor work directory shares with nobody. */
static int name_group(const struct execution *e, char **ret_name)
{
	const struct cordon_anchor *workdir = &e->view->anchors[CORDON_ANCHOR_WORKDIR];
	int length;

	if (e->record.session)
		length = asprintf(ret_name, "session %u %u %s", (unsigned int)e->owner.uid,
				  (unsigned int)e->record.uid, e->record.session);
	else if (workdir->inode)
		length = asprintf(ret_name, "directory %u %u %" PRIu64 " %" PRIu32 " %" PRIu32,
				  (unsigned int)e->owner.uid, (unsigned int)e->record.uid,
				  (uint64_t)workdir->inode, workdir->device, workdir->generation);
	else
		length = asprintf(ret_name, "execution %s", e->id);
	return length < 0 ? -ENOMEM : length;
}

int execution_set_temporary_owner(struct execution *e, struct failure *failure)
{
	_cleanup_(freep) char *name = NULL;
	unsigned char digest[SHA256_SIZE];
	uint64_t owner;
	int r = name_group(e, &name);

	if (r >= 0)
		r = sha256_of(name, (size_t)r, digest);
	if (r < 0)
		return failure_set(failure, r, "whose temporary files it shares: %m");
	memcpy(&owner, digest, sizeof(owner));
	enforcement_set_temporary_owner(e->daemon->enforcement, e->slot, owner);
	return 0;
}
