/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands standard input through to a command that reads its code from it, and hashes what passes.
 * Never blocks: driven by poll(2).
 */
#ifndef CORDON_CLI_STDIN_PUMP_H
#define CORDON_CLI_STDIN_PUMP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sha256.h"

struct stdin_pump {
	int in;	     /* not owned; -1: at its end */
	off_t place; /* in a file, whose own place stays where it is for the caller; -1: there is none */
	int out;     /* owned; -1: closed, nothing more passes */
	int read_fd; /* the command's end; owned until stdin_pump_started() */
	struct sha256 *hash;
	uint64_t length;
	bool failed; /* the hash could not be computed */
	char buffer[65536];
	size_t start, end; /* what was read and not yet written */
};

/* -errno of pipe2(2); -ENOMEM. Caller frees. */
int stdin_pump_new(int in, struct stdin_pump **ret_pump);
void stdin_pump_free(struct stdin_pump *pump);
DEFINE_CLEANUP(struct stdin_pump *, stdin_pump_free, stdin_pump_freep)

/* The command has its end: ours is closed, so that its death is seen. */
void stdin_pump_started(struct stdin_pump *pump);

/* What to wait for; a negative fd: nothing. */
struct pollfd stdin_pump_wants(const struct stdin_pump *pump);

/* Moves what can be moved; call it when that descriptor is ready. */
void stdin_pump_move(struct stdin_pump *pump);

/* Digest and length of what was handed to the command. -EIO. */
int stdin_pump_finish(struct stdin_pump *pump, unsigned char ret_digest[SHA256_SIZE],
		      uint64_t *ret_length);

#endif
