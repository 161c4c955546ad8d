/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that reads the bytes of one user's clients: without privileges, without files, without anything but
 * its socket. It gets packets and gives back messages, encoded as message_codec.h says, or what is wrong with
 * them. Who the client is, and which descriptors came along, it is not told and cannot say: whoever takes it
 * over can ask for what that user could ask for anyway.
 */
#ifndef CORDON_DAEMON_READER_PROCESS_H
#define CORDON_DAEMON_READER_PROCESS_H

#include <stdint.h>

/* No user has it; the log's writers have the one before. */
#define READER_UID 65531

struct reader_reply {
	int32_t result; /* 0, or -errno, of which `size` bytes of text say more */
	uint32_t size;	/* what follows */
};

/* Serves until the daemon closes the socket; returns an exit status. */
int reader_process(void);

#endif
