// SPDX-License-Identifier: Apache-2.0
/*
 * Asks about what has no name that could be told, or not at this moment: lost WAY
 *
 *   deep     makes directories one below the other until it is refused
 *   stale    says "ready", waits for a line, and opens "file" in the directory that it began in
 *   space    opens the namespaces of its own process
 *   moving   opens a file far down, by a long name, for some seconds or until it is refused
 *   renames  renames a file again and again, until it is killed
 *
 * Prints what it met: "DEPTH ERROR".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEEPEST	    1000
#define LEVELS	    50
#define NAME_LENGTH 240
#define MOVING_TIME 5 /* s */

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

/* Of any file: who looks for a name does not know which one it is. */
static int renames(void)
{
	close(open("here", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	puts("ready");
	fflush(stdout);
	while (rename("here", "there") == 0 && rename("there", "here") == 0)
		;
	return 1;
}

/* Into directories whose names take long to go through. */
static int make_levels(void)
{
	char name[NAME_LENGTH + 1];

	memset(name, 'd', NAME_LENGTH);
	name[NAME_LENGTH] = '\0';
	for (int i = 0; i < LEVELS; i++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			return -1;
	return close(open("f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int moving(void)
{
	time_t until = time(NULL) + MOVING_TIME;
	long asked = 0;
	int error;

	if (make_levels() < 0)
		return say(asked, errno);
	do {
		error = open_once("f");
		asked++;
	} while (error == 0 && time(NULL) < until);
	(void)say(asked, error);
	return error != 0;
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
	if (strcmp(way, "renames") == 0)
		return renames();
	return 2;
}
