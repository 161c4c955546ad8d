/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a watcher, in case an attacker takes it over. It can respond to clients, connect to unix
 * sockets, and write in the given directories. It has no capabilities, no other files, and no
 * network except its listening socket, and cannot execute programs.
 */
#ifndef CORDON_WATCH_CONFINE_H
#define CORDON_WATCH_CONFINE_H

#include <stdbool.h>

#include "base/failure.h"

struct confine {
	int directory_fd;	 /* of the textfile, which is recreated for each write; -1: none */
	int socket_directory_fd; /* of the unix socket, which is removed at exit; -1: none */
};

/*
 * Call it single-threaded, after all files are open. On a kernel without Landlock the other
 * restrictions apply. Returns 0, or the -ERRNO of the step that failed.
 */
int confine_enter(const struct confine *confine, struct failure *failure);

#endif
