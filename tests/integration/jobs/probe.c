// SPDX-License-Identifier: Apache-2.0
/* As probe.py, by machine code that was compiled where it is run. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_only(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	return fd < 0 ? -1 : close(fd);
}

static int connect_to(char *address)
{
	char *port = strchr(address, '@');
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port + 1))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return -1;
	*port = '\0';
	inet_pton(AF_INET, address, &to.sin_addr);
	*port = '@';
	return connect(fd, (struct sockaddr *)&to, sizeof(to));
}

static int attempt(const char *kind, char *argument)
{
	if (strcmp(kind, "read") == 0)
		return open_only(argument, O_RDONLY);
	if (strcmp(kind, "write") == 0)
		return open_only(argument, O_WRONLY);
	if (strcmp(kind, "create") == 0)
		return open_only(argument, O_WRONLY | O_CREAT | O_EXCL);
	if (strcmp(kind, "connect") == 0)
		return connect_to(argument);
	if (strcmp(kind, "signal") == 0)
		return kill(atoi(argument), 0);
	if (strcmp(kind, "trace") == 0)
		return (int)ptrace(PTRACE_SEIZE, atoi(argument), NULL, NULL);
	if (strcmp(kind, "namespace") == 0)
		return unshare(CLONE_NEWUSER);
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char kind[16] = "";
		int length = 0, done;

		sscanf(argv[i], "%15[^:]%n", kind, &length);
		done = attempt(kind, argv[i] + length + 1);
		printf("%s %s\n", argv[i], done == 0 ? "ok" : strerrorname_np(errno));
	}
	return 0;
}
