// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program that somebody else has put into /tmp
 * Hook: bprm_check_security
 * Errno: EACCES
 * Control: runs one of its own from there
 * As: user+temporary root+temporary
 * Where: tmpfs
 * Record: exec $ANY-theirs
 */
#include "tests/redteam/temporary.h"

static void setup(void)
{
	copy_file("/usr/bin/true", temporary("theirs"), 0755);
}

static int attack(void)
{
	return run_path(temporary("theirs"));
}

static int control(void)
{
	int error;

	copy_file("/usr/bin/true", temporary("mine"), 0755);
	error = run_path(temporary("mine"));
	return error ? error : outcome(unlink(temporary("mine")));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
