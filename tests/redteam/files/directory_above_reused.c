// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads files one directory below directories outside that have the memory of directories
 *   which the execution removed
 * Hook: file_open
 * Errno: EACCES
 * Control: reads files in directories that it makes after removing others
 * Record: open $VICTIM/dir/$ANY
 * Where: tmpfs
 * Contexts: thread
 */
#include "tests/redteam/reused.h"

static int attack(void)
{
	return read_reused("fill-below", "below/file");
}

static int control(void)
{
	return read_anew();
}

REDTEAM(.attack = attack, .control = control)
