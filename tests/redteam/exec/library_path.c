// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the loader find a library of its own (LD_LIBRARY_PATH)
 * Hook: mmap_file
 * Errno: EACCES
 * Control: runs the program with the system's libraries
 * Record: mmap $WORK/lib/libc.so.6
 */
#include "tests/redteam/loader.h"

static int attack(void)
{
	NEED(mkdir("lib", 0755));
	copy_file(LIBC, "lib/libc.so.6", 0755);
	return run_with("LD_LIBRARY_PATH", own_path("lib"));
}

static int control(void)
{
	return run_with("LD_LIBRARY_PATH", "/nonexistent");
}

REDTEAM(.attack = attack, .control = control)
