// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the kernel load a module by the name of what it asks for
 * Hook: kernel_module_request
 * Errno: ENOENT
 * Control: asks for what is there
 * Record: kernel-load $ANY as EPERM
 * As: root
 */
#include "tests/redteam/net.h"

static int choose(const char *name)
{
	int fd = socket_or_broken(AF_INET, SOCK_STREAM);

	return outcome(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)));
}

/* Another one than was loaded for the one that is not confined. */
static int attack(void)
{
	return choose(getenv("REDTEAM_CONFINED") ? "veno" : "vegas");
}

static int control(void)
{
	return choose("reno");
}

REDTEAM(.attack = attack, .control = control)
