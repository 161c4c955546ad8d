// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the loader load a library of its own as its auditor (LD_AUDIT)
 * Hook: mmap_file
 * Errno: EACCES
 * Control: names one of the system's
 * Record: mmap $WORK/injected.so
 */
#include "tests/redteam/loader.h"

static int attack(void)
{
	copy_file(LIBM, "injected.so", 0755);
	return run_with("LD_AUDIT", own_path("injected.so"));
}

static int control(void)
{
	return run_with("LD_AUDIT", LIBM);
}

REDTEAM(.attack = attack, .control = control)
