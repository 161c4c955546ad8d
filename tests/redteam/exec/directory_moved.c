// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: runs a program from a directory that it has used where programs may be run, and has then
 *   moved away
 * Hook: file_open, bprm_check_security
 * Errno: EACCES
 * Control: runs it before that
 * Record: open|exec $WORK/moved/program
 * As: root+names user+names
 */
#include "tests/redteam/attack.h"

static const char *build(const char *directory)
{
	static char program[PATH_SIZE];

	NEED(mkdir(directory, 0755));
	snprintf(program, sizeof(program), "%s/program", directory);
	copy_file("/proc/self/exe", program, 0755);
	return program;
}

/* The program is this one, which has nothing to set up. */
static int run_it(const char *path)
{
	return run_program((char *[]){(char *)path, "setup", NULL});
}

static int attack(void)
{
	const char *program = build("run/tree");

	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	/* So that it is remembered what the rules say of the directory. */
	NEED(close(NEED(open(program, O_RDONLY | O_CLOEXEC))));
	NEED(rename("run/tree", "moved"));
	return run_it("moved/program");
}

static int control(void)
{
	return run_it(build("run/other"));
}

REDTEAM(.attack = attack, .control = control)
