/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An interpreter that leaves time between its start and the opening of its script. It makes the
 * file "ready", waits for the file "go", and then prints the script as often as its second argument
 * says, once unless told; "again" between two of them has it write the script anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int interpret(const char *script)
{
	char text[4096];
	int fd = open(script, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n < 0) {
		printf("refused %d\n", errno);
		return 1;
	}
	close(fd);
	return fwrite(text, 1, (size_t)n, stdout) == (size_t)n ? 0 : 1;
}

static int rewrite(const char *script)
{
	int fd = open(script, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, "itself\n", 7) != 7)
		return 1;
	return close(fd);
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1, failed = 0, fd;

	if (argc < 2)
		return 2;
	fd = open("ready", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return 3;
	close(fd);
	for (int i = 0; access("go", F_OK) < 0; i++) {
		if (i > 60000)
			return 4;
		usleep(1000);
	}
	for (int i = 0; i < times; i++) {
		failed |= interpret(argv[1]);
		if (argc > 3 && strcmp(argv[3], "again") == 0)
			failed |= rewrite(argv[1]);
	}
	return failed;
}
