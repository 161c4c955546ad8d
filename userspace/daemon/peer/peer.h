/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of the control socket, and what that one may ask for. */
#ifndef CORDON_DAEMON_PEER_H
#define CORDON_DAEMON_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/failure.h"
#include "daemon/peer/names.h"

/* Its members may run, see and end executions of their own. */
#define PEER_GROUP "cordon"
/* Its members may ask for `status`, by a socket where nothing else is answered. */
#define PEER_STATUS_GROUP "cordon-watch"
/* Its members may ask `who` about every execution, by a socket where nothing else is answered. */
#define PEER_WHO_GROUP "cordon-who"
/* A process has at most 65536 groups; one with more than this is told to have fewer. */
#define PEER_MAX_GROUPS 1024

struct peer {
	struct ucred ucred; /* as of connect(2), from the kernel */
	gid_t *groups;	    /* supplementary ones, as of connect(2); of root none are read */
	size_t group_count;
	uint64_t start_nsec; /* boot clock: with the pid this names the process */
	bool root;
	const struct names *names; /* what is known of the host's users; NULL: nothing */
};

/* The id of one of these groups, from `names`; false: it is missing there, and root is alone. */
bool peer_group(const struct names *names, const char *name, gid_t *ret_gid);

/*
 * -EPERM: neither root nor, where `group` is not NULL, a member of it; -ESRCH: the process is gone;
 * -errno.
 */
int peer_read(int socket, const gid_t *group, struct peer *ret_peer, struct failure *failure);
void peer_release(struct peer *peer);

bool peer_in_group(const struct peer *peer, gid_t gid);

/*
 * Is it root, or one of "alice" and "@group"? `names` is NULL-terminated, or NULL for nobody. What
 * has not been looked up, it is not.
 */
bool peer_is_one_of(const struct peer *peer, char *const *names);

#endif
