/* SPDX-License-Identifier: Apache-2.0 */
/* Starts another of cordon's programs in the place of this one. */
#include "cli/term/part.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/term/message.h"

/* Cuts `end` off, if that is how `path` ends. */
static void cut(char *path, const char *end)
{
	size_t length = strlen(path), cut = strlen(end);

	if (length >= cut && strcmp(path + length - cut, end) == 0)
		path[length - cut] = '\0';
}

/* NULL: cannot be told. */
static char *path_of(const char *name)
{
	char own[PATH_MAX], *slash, *path;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	cut(own, "/lib/cordon");
	cut(own, "/bin");
	return asprintf(&path, "%s/lib/cordon/%s", own, name) < 0 ? NULL : path;
}

void part_become(const char *name, char **argv)
{
	_cleanup_(freep) char *program = path_of(name);

	if (!program) {
		message("cannot tell from /proc/self/exe where the rest of cordon is: %m");
		return;
	}
	execv(program, argv);
	message("cannot start %s: %m; it is part of cordon: install that again", program);
}

static void become_with(const char *program, const char *const *argv, int input, int output)
{
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
		execv(program, (char **)argv);
	_exit(127);
}

int part_run(const char *name, const char *const *argv, int input, int output, unsigned int seconds)
{
	_cleanup_(freep) char *program = path_of(name);
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	int status;
	pid_t pid;

	if (!program)
		return -ENOENT;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_with(program, argv, input, output);
	for (unsigned int waited = 0; waited < seconds * 100; waited++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -EPROTO;
		if (ended < 0 && errno != EINTR)
			return -errno;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return -ETIMEDOUT;
}
