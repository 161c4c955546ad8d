// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: learns where a link outside leads, from the name of a descriptor that it opened through
 *   the link without opening the file
 * Hook: inode_readlink
 * Errno: EACCES
 * Control: does so with a link of its own, and with a pipe and its standard input
 * Record: metadata $VICTIM/secret
 * As: root+metadata user+metadata
 */
#include "tests/redteam/streams.h"

static void setup(void)
{
	unlink(victim("through"));
	NEED(symlink(victim("secret"), victim("through")));
}

static int name_of(int fd)
{
	char target[PATH_SIZE];

	return outcome(readlink(descriptor_path(fd), target, sizeof(target)));
}

static int look_through(const char *link)
{
	int fd = open(link, O_PATH | O_CLOEXEC), error;

	if (fd < 0)
		return errno;
	error = name_of(fd);
	close(fd);
	return error;
}

static int attack(void)
{
	return look_through(victim("through"));
}

static int control(void)
{
	int ends[2], error;

	unlink("link");
	NEED(symlink("own", "link"));
	NEED(pipe(ends));
	error = look_through("link");
	if (!error)
		error = name_of(ends[0]);
	return error ? error : name_of(STDIN_FILENO);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
