// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a descriptor of a file outside over a unix socket
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one of its own file
 * Record: receive $VICTIM/secret
 */
#include "tests/redteam/net.h"

static int receive(const char *path)
{
	char byte;
	int fd = receive_descriptor(path);

	return fd < 0 ? EACCES : outcome(read(fd, &byte, 1));
}

static int attack(void)
{
	return receive(victim("secret"));
}

static int control(void)
{
	char path[PATH_SIZE];

	return receive(in_directory(NEED(getcwd(path, sizeof(path))), "own"));
}

REDTEAM(.attack = attack, .control = control)
