// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has the program loader load a program that may not be run
 * Hook: mmap_file
 * Errno: EACCES
 * Control: has it load one that may be
 * Record: mmap $WORK/copy
 */
#include "tests/redteam/loader.h"

static void setup(void)
{
	copy_file("/usr/bin/true", "run/program", 0755);
}

static int attack(void)
{
	char *argv[] = {LOADER, "./copy", NULL};
	int status;

	NEED(dup2(NEED(open("/dev/null", O_WRONLY)), STDERR_FILENO));
	copy_file("/usr/bin/true", "copy", 0755);
	status = run_program(argv);
	return status == 127 ? EACCES : status;
}

static int control(void)
{
	char *argv[] = {LOADER, "run/program", NULL};

	return run_program(argv);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
