/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of the control socket, and what that one may ask for. */
#include "daemon/peer/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/host/process.h"

bool peer_group(const struct names *names, const char *name, gid_t *ret_gid)
{
	char question[64];
	const struct name *known;

	snprintf(question, sizeof(question), "@%s", name);
	known = names_find(names, question);
	if (known)
		*ret_gid = known->id;
	return known;
}

static int read_groups(int socket, struct peer *peer, struct failure *failure)
{
	socklen_t size = PEER_MAX_GROUPS * sizeof(gid_t);
	gid_t *groups = malloc(size);

	if (!groups)
		return failure_set(failure, ENOMEM, "%m");
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) {
		int error = errno;

		free(groups);
		if (error == ERANGE)
			return failure_set(failure, EPERM, "you are in more than %d groups",
					   PEER_MAX_GROUPS);
		return failure_set(failure, error, "cannot tell your groups: %m");
	}
	peer->groups = groups;
	peer->group_count = size / sizeof(gid_t);
	return 0;
}

bool peer_in_group(const struct peer *peer, gid_t gid)
{
	for (size_t i = 0; i < peer->group_count; i++)
		if (peer->groups[i] == gid)
			return true;
	return peer->ucred.gid == gid;
}

static int read_into(int socket, const gid_t *group, struct peer *peer, struct failure *failure)
{
	socklen_t size = sizeof(peer->ucred);
	struct process_status status;
	int r;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer->ucred, &size) < 0)
		return failure_set(failure, errno, "cannot tell who you are: %m");
	peer->root = peer->ucred.uid == 0;
	r = peer->root ? 0 : read_groups(socket, peer, failure);
	if (r < 0)
		return r;
	if (!peer->root && !(group && peer_in_group(peer, *group)))
		return failure_set(failure, EPERM,
				   "only root and members of the group " PEER_GROUP
				   " may use the cordon daemon");
	r = process_status(peer->ucred.pid, &status);
	if (r < 0)
		return failure_set(failure, r, "the client, process %d, is gone", peer->ucred.pid);
	peer->start_nsec = status.start_nsec;
	return 0;
}

int peer_read(int socket, const gid_t *group, struct peer *ret_peer, struct failure *failure)
{
	struct peer peer = {};
	int r = read_into(socket, group, &peer, failure);

	if (r < 0)
		peer_release(&peer);
	else
		*ret_peer = peer;
	return r;
}

void peer_release(struct peer *peer)
{
	free(peer->groups);
	*peer = (struct peer){};
}

static bool is_named(const struct peer *peer, const char *name)
{
	const struct name *known = names_find(peer->names, name);

	if (!known)
		return false;
	return name[0] == '@' ? peer_in_group(peer, known->id) : known->id == peer->ucred.uid;
}

bool peer_is_one_of(const struct peer *peer, char *const *names)
{
	if (peer->root)
		return true;
	for (; names && *names; names++)
		if (is_named(peer, *names))
			return true;
	return false;
}
