// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: loads a library of its own into an allowed program
 * Hook: mmap_file
 * Errno: EACCES
 * Control: loads one from where that is allowed
 * Record: mmap $WORK/libc.so.6
 */
#include "tests/redteam/loader.h"

static void setup(void)
{
	copy_file(LIBC, "run/libc.so.6", 0755);
}

static int attack(void)
{
	char *argv[] = {"/usr/bin/true", NULL};
	int status;

	NEED(dup2(NEED(open("/dev/null", O_WRONLY)), STDERR_FILENO));
	copy_file(LIBC, "libc.so.6", 0755);
	NEED(setenv("LD_LIBRARY_PATH", ".", 1));
	status = run_program(argv);
	return status == 127 ? EACCES : status;
}

static int control(void)
{
	char *argv[] = {"/usr/bin/true", NULL};

	NEED(setenv("LD_LIBRARY_PATH", "run", 1));
	return run_program(argv);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
