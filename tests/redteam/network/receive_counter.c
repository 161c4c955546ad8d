// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a counter of the kernel, which it may not make itself
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives an event counter
 * Record: receive $ANY
 */
#include "tests/redteam/net.h"

static int receive(const char *what)
{
	unsigned long value;
	int fd = receive_descriptor(what), error;

	if (fd < 0)
		return EACCES;
	error = read(fd, &value, sizeof(value)) < 0 && errno != EAGAIN ? errno : 0;
	close(fd);
	return error;
}

static int attack(void)
{
	return receive("socket:perf:");
}

static int control(void)
{
	return receive("socket:event:");
}

REDTEAM(.attack = attack, .control = control)
