/* SPDX-License-Identifier: Apache-2.0 */
/* The exit statuses of `cordon run`, as env(1), timeout(1) and shells have them. */
#include "cli/term/exit_status.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

int exit_status_of_wait(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return EXIT_SIGNAL + WTERMSIG(status);
}

int exit_status_of_exec(int error)
{
	return abs(error) == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
