// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the loader load a library of its own first (LD_PRELOAD)
 * Hook: mmap_file
 * Errno: EACCES
 * Control: has it load one of the system's first
 * Record: mmap $WORK/injected.so
 */
#include "tests/redteam/loader.h"

static int attack(void)
{
	copy_file(LIBM, "injected.so", 0755);
	return run_with("LD_PRELOAD", own_path("injected.so"));
}

static int control(void)
{
	return run_with("LD_PRELOAD", LIBM);
}

REDTEAM(.attack = attack, .control = control)
