// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reopens a file outside that it holds by O_PATH after it has been deleted
 * Hook: file_open
 * Errno: EACCES
 * Control: does so with its own file
 * Record: open $VICTIM/secret
 * Where: tmpfs ext4 overlay
 */
#include "tests/redteam/net.h"

static int reopen(const char *path)
{
	int fd = NEED(open(path, O_PATH | O_CLOEXEC)), error;
	char own[64];

	if (unlink(path) < 0) {
		char request[PATH_SIZE];

		snprintf(request, sizeof(request), "unlink:%s", path);
		close(receive_descriptor(request));
	}
	if (access(path, F_OK) == 0)
		broken("it has not been deleted");
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	error = read_file(own);
	close(fd);
	return error;
}

static int attack(void)
{
	return reopen(victim("secret"));
}

static int control(void)
{
	make_file("passing", "own\n", 0644);
	return reopen("passing");
}

REDTEAM(.attack = attack, .control = control)
