/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the directories of a request before it is dispatched: from the kernel's caches, or by a
 * worker if these do not suffice, because a file system may be unresponsive.
 */
#ifndef CORDON_DAEMON_PLACES_H
#define CORDON_DAEMON_PLACES_H

#include "control/protocol.h"
#include "daemon/privsep/logs.h"

struct place_check {
	int result; /* -EAGAIN: not checked yet */
	struct failure failure;
};

/* One for each descriptor of the request, in its order. */
struct places {
	struct place_check of[PROTOCOL_MAX_FDS];
	size_t count;
};

/*
 * Checks the first directory from the caches, and all directories of a member. None may be below
 * the directory of `log`. Returns whether a worker has to check the rest.
 */
bool places_check_cached(struct places *places, const struct protocol_fds *fds, bool member,
			 const struct log_use *log);

/* In a worker: checks the rest. The descriptors are `first` and the numbers behind it. */
void places_check(const struct places *places, int first, const struct log_use *log, FILE *to);
/* Takes the worker's results. Returns 0, or -EPROTO. */
int places_take(struct places *places, const char *data, size_t size);

#endif
