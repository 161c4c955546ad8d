// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file outside through /proc/self/root
 * Hook: file_open
 * Errno: EACCES
 * Control: reads what it may through /proc/self/root
 * Record: open $VICTIM/secret
 */
#include "tests/redteam/attack.h"

static int attack(void)
{
	return read_file(in_directory("/proc/self/root", victim("secret")));
}

static int control(void)
{
	return read_file("/proc/self/root/usr/lib/os-release");
}

REDTEAM(.attack = attack, .control = control)
