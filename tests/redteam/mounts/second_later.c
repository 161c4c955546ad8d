// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads a file again that has come to be mounted where a rule denies it
 * Hook: file_open
 * Errno: EACCES
 * Control: reads it before, twice
 * Record: open $VICTIM/kept/secret
 * As: root
 */
#include <sys/mount.h>

#include "tests/redteam/net.h"

static void setup(void)
{
	NEED(mkdir("later", 0755));
	NEED(mount("tmpfs", "later", "tmpfs", 0, NULL));
	make_file("later/secret", "secret\n", 0644);
	NEED(mkdir("later/apart", 0755));
	make_file("later/apart/text", "text\n", 0644);
	NEED(mkdir(victim("kept"), 0755));
}

/* By a task that asks for nothing else meanwhile. */
static int read_again(int go_on)
{
	char byte;

	/* Then it is known that the file system is mounted once. */
	if (read_file("later/apart/text") || read_file("later/secret"))
		broken("the file before");
	NEED(write(STDOUT_FILENO, "\n", 1));
	NEED(read(go_on, &byte, 1));
	return read_file("later/secret");
}

static int attack(void)
{
	char request[2 * PATH_SIZE + 8], from[PATH_SIZE], byte;
	int go_on[2], ready[2];
	pid_t pid;

	NEED(realpath("later", from) ? 0 : -1);
	snprintf(request, sizeof(request), "bind:%s:%s", from, victim("kept"));
	NEED(pipe(go_on));
	NEED(pipe(ready));
	pid = NEED(fork());
	if (pid == 0) {
		NEED(dup2(ready[1], STDOUT_FILENO));
		_exit(read_again(go_on[0]));
	}
	NEED(read(ready[0], &byte, 1));
	close(receive_descriptor(request));
	NEED(write(go_on[1], "x", 1));
	return exit_status(pid);
}

static int control(void)
{
	int error = read_file("later/secret");

	return error ? error : read_file("later/secret");
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
