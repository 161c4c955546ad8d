/* SPDX-License-Identifier: Apache-2.0 */
/* A dynamically linked program, and what its loader says of libraries that it cannot load. */
#ifndef CORDON_TESTS_REDTEAM_LOADER_H
#define CORDON_TESTS_REDTEAM_LOADER_H

#include "tests/redteam/attack.h"

#ifdef __aarch64__
#define LIBRARIES "/usr/lib/aarch64-linux-gnu"
#define LOADER	  "/lib/ld-linux-aarch64.so.1"
#else
#define LIBRARIES "/usr/lib/x86_64-linux-gnu"
#define LOADER	  "/lib64/ld-linux-x86-64.so.2"
#endif
#define LIBC LIBRARIES "/libc.so.6"
#define LIBM LIBRARIES "/libm.so.6"

static inline const char *own_path(const char *name)
{
	static char directory[PATH_SIZE];

	if (!getcwd(directory, sizeof(directory)))
		broken("getcwd");
	return in_directory(directory, name);
}

/*
 * Most injected libraries are optional to the loader: it complains and goes on. EACCES: it could
 * not map one.
 */
static inline int run_with(const char *name, const char *value)
{
	char text[4096], variable[PATH_SIZE + 64];
	char *argv[] = {"/usr/bin/true", NULL}, *environment[] = {variable, NULL};
	size_t length = 0;
	int ends[2], status;
	ssize_t more;
	pid_t pid;

	snprintf(variable, sizeof(variable), "%s=%s", name, value);
	NEED(pipe2(ends, O_CLOEXEC));
	pid = NEED(fork());
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		execve(argv[0], argv, environment);
		_exit(BROKEN);
	}
	close(ends[1]);
	while (length < sizeof(text) - 1 &&
	       (more = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += more;
	text[length] = '\0';
	close(ends[0]);
	status = exit_status(pid);
	if (strstr(text, "failed to map segment"))
		return EACCES;
	return status;
}

#endif
