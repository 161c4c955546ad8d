// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a file without a name that somebody else has made in /tmp, and reads it
 * Hook: file_receive
 * Errno: EACCES
 * Control: reads one of its own
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: receive /tmp/$ANY
 */
#include "tests/redteam/net.h"

static int read_byte(int fd)
{
	char byte;

	return outcome(pread(fd, &byte, 1, 0));
}

static int attack(void)
{
	int fd = receive_descriptor("socket:unnamed:/tmp");

	return fd < 0 ? EACCES : read_byte(fd);
}

static int control(void)
{
	int fd = NEED(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));

	NEED(write(fd, "own", 3));
	return read_byte(fd);
}

REDTEAM(.attack = attack, .control = control)
