/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds environment variables to a process that has not executed an instruction yet. They replace
 * overwritten strings. If these have too little space, the process gets a longer stack
 * (initial_stack.h); for that it must be stopped or about to stop.
 */
#ifndef CORDON_ADOPT_ENVIRONMENT_ROOM_H
#define CORDON_ADOPT_ENVIRONMENT_ROOM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/failure.h"

/* The strings and the pointers to them, as read from the process; changed and then written back. */
struct environment_room {
	uint64_t start; /* address of text[0] */
	char *text;
	size_t size;
	uint64_t *pointers; /* the process's pointers into `text` */
	size_t count;
};

/*
 * Puts `variables` ("NAME=value", NULL-terminated) in place of empty strings and of strings with
 * the same names. *ret_left: how many of the last ones had no space or no pointer. Returns 0,
 * -EBADMSG if a pointer is outside the text, or -ENOMEM.
 */
int environment_room_fill(struct environment_room *room, char *const *variables, size_t *ret_left,
			  struct failure *failure);

/*
 * Adds the variables to a process. *ret_left: how many did not fit because the stack could not be
 * lengthened; see initial_stack_move(). The calling process must end before the other one is to
 * continue. Returns 0, -ESRCH if the process exited, -EOPNOTSUPP if it is not a 64-bit program, or
 * as above.
 */
int process_environment_set(pid_t pid, char *const *variables, size_t *ret_left,
			    struct failure *failure);

#endif
