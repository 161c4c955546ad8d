/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon watch: gives its place to the program for that, which lies beside this one and links what
 * speaks HTTP.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"

#define PROGRAM "cordon-watch"

int cmd_watch(int argc, char **argv)
{
	char path[PATH_MAX + sizeof(PROGRAM)], *slash;
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	(void)argc;
	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash) {
		message("cannot tell from /proc/self/exe where the rest of cordon is: %m");
		return EXIT_FAILURE;
	}
	strcpy(slash + 1, PROGRAM);
	execv(path, argv);
	message("cannot start %s: %m; it is part of cordon: install that again", path);
	return EXIT_FAILURE;
}
