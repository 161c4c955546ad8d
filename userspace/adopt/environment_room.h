/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives a process that has not run an instruction yet variables that it was not started with. They
 * go where strings stood that were overwritten; where there is no room for all, the process begins
 * with a longer stack (initial_stack.h), for which it has to be stopped, or about to be.
 */
#ifndef CORDON_ADOPT_ENVIRONMENT_ROOM_H
#define CORDON_ADOPT_ENVIRONMENT_ROOM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/failure.h"

/*
 * The strings and the pointers to them, as read from the process, to be changed and written back.
 */
struct environment_room {
	uint64_t start; /* address of text[0] */
	char *text;
	size_t size;
	uint64_t *pointers; /* the process's, each to a string of the text */
	size_t count;
};

/*
 * Puts `variables` ("NAME=value", NULL-terminated) where empty strings, and strings of the same
 * names, are pointed
 * to. *ret_left: how many of the last ones found no room, or no pointer. -EBADMSG: a pointer that
 * leads elsewhere;
 * -ENOMEM.
 */
int environment_room_fill(struct environment_room *room, char *const *variables, size_t *ret_left,
			  struct failure *failure);

/*
 * The same for a process. What is left over here found no room, and the stack could not be made
 * longer: see initial_stack_move(). The calling process must not live longer than the process is to
 * be stopped. -ESRCH: it is gone; -EOPNOTSUPP: it is no 64-bit program; as above.
 */
int process_environment_set(pid_t pid, char *const *variables, size_t *ret_left,
			    struct failure *failure);

#endif
