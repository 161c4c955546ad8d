// SPDX-License-Identifier: Apache-2.0
/*
 * Asks about what has no name that could be told, or not at this moment: lost WAY
 *
 *   deep     makes directories one below the other until it is refused
 *   stale    says "ready", waits for a line, and opens "file" in the directory that it began in
 *   space    opens the namespaces of its own process
 *   moving   opens a file deep down while two threads move what lies above it, until it is refused
 *
 * Prints what it met: "DEPTH ERROR".
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEEPEST	 1000
#define LEVELS	 60
#define PATIENCE 60 /* s */

static int say(long count, int error)
{
	printf("%ld %s\n", count, strerrorname_np(error) ? strerrorname_np(error) : "none");
	return error == EACCES ? 0 : 1;
}

static int open_once(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int deep(void)
{
	for (long i = 0; i < DEEPEST; i++)
		if (mkdir("d", 0755) < 0 || chdir("d") < 0)
			return say(i, errno);
	return say(DEEPEST, 0);
}

static int stale(void)
{
	puts("ready");
	fflush(stdout);
	(void)getchar();
	return say(0, open_once("file"));
}

static void *move(void *number)
{
	char here[16], there[24];

	snprintf(here, sizeof(here), "m%ld", (long)number);
	snprintf(there, sizeof(there), "t/m%ld", (long)number);
	for (;;) {
		rename(here, there);
		rename(there, here);
	}
	return NULL;
}

static void make_levels(char *path, size_t size)
{
	size_t length = 0;

	mkdir("t", 0755);
	mkdir("m0", 0755);
	mkdir("m1", 0755);
	for (int i = 0; i < LEVELS; i++) {
		length += (size_t)snprintf(path + length, size - length, "%sd", i ? "/" : "");
		mkdir(path, 0755);
	}
	snprintf(path + length, size - length, "/f");
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int moving(void)
{
	time_t until = time(NULL) + PATIENCE;
	char path[4 * LEVELS];
	pthread_t thread;
	long asked = 0;
	int error;

	make_levels(path, sizeof(path));
	for (long i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, move, (void *)i))
			return 2;
	do {
		error = open_once(path);
		asked++;
	} while (error == 0 && time(NULL) < until);
	return say(asked, error);
}

int main(int argc, char **argv)
{
	const char *way = argc == 2 ? argv[1] : "";

	if (strcmp(way, "deep") == 0)
		return deep();
	if (strcmp(way, "stale") == 0)
		return stale();
	if (strcmp(way, "space") == 0)
		return say(0, open_once("/proc/self/ns/net"));
	if (strcmp(way, "moving") == 0)
		return moving();
	return 2;
}
