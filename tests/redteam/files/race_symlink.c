// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: swaps a link between its own file and one outside while opening it
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/attack.h"

static void swap_links(void)
{
	for (;;) {
		renameat2(AT_FDCWD, "link", AT_FDCWD, "theirs", RENAME_EXCHANGE);
		renameat2(AT_FDCWD, "link", AT_FDCWD, "mine", RENAME_EXCHANGE);
	}
}

static bool is_secret(const char *path)
{
	char text[8] = {};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	NEED(read(fd, text, sizeof(text) - 1));
	close(fd);
	return strcmp(text, "secret\n") == 0;
}

static int attack(void)
{
	int error = EACCES;
	pid_t swapper;

	NEED(symlink("own", "mine"));
	NEED(symlink(victim("secret"), "theirs"));
	NEED(symlink("own", "link"));
	swapper = NEED(fork());
	if (swapper == 0)
		swap_links();
	for (int i = 0; i < 4000 && error; i++)
		error = is_secret("link") ? 0 : EACCES;
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	return error;
}

REDTEAM(.attack = attack)
