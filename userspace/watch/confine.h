/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left to a watcher that somebody takes over: to answer those who connect, to connect to
 * unix sockets, and to write in the directories that it was given. No capability, no program, no
 * file, no network but what it listens on already.
 */
#ifndef CORDON_WATCH_CONFINE_H
#define CORDON_WATCH_CONFINE_H

#include <stdbool.h>

#include "base/failure.h"

struct confine {
	int directory_fd;	 /* of the textfile, which is made anew each time; -1: none */
	int socket_directory_fd; /* of the unix socket, which is removed at the end; -1: none */
};

/*
 * Single-threaded, once all is open. A kernel without Landlock leaves the rest. -errno: some of it
 * failed.
 */
int confine_enter(const struct confine *confine, struct failure *failure);

#endif
