// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file while others move it from one denied directory to another, and then allow
 *   the first one's name
 * Hook: file_open
 * Errno: EACCES
 * Control: opens it by the name that is allowed
 * Record: open $ANY/secret
 * Where: tmpfs ext4
 */
#include <signal.h>
#include <time.h>

#include "tests/redteam/attack.h"

#define RACE_SECONDS 4
#define SPIN	     100000 /* ns */
#define LEVELS	     100 /* between the file and the name that changes: the longer a look takes */

static const char *levels(const char *top, const char *name)
{
	static char paths[4][PATH_SIZE];
	static unsigned int next;
	char *path = paths[next++ % 4];
	int length = snprintf(path, PATH_SIZE, "%s", top);

	for (int i = 0; i < LEVELS; i++)
		length += snprintf(path + length, PATH_SIZE - length, "/d");
	snprintf(path + length, PATH_SIZE - length, "/%s", name);
	return path;
}

/* About as long as a look at all the levels. */
static void spin(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < SPIN);
}

/* To and fro, in an order that gives the file a denied name at any time. */
static void swap_until(const char *stop)
{
	int deep = NEED(open(levels(".docker", ""), O_PATH | O_CLOEXEC));
	int other = NEED(open("other/.docker", O_PATH | O_CLOEXEC));

	for (int i = 0; i % 64 || access(stop, F_OK) < 0; i++) {
		renameat(deep, "inner", other, "inner");
		rename(".docker", "free");
		spin();
		rename("free", ".docker");
		renameat(other, "inner", deep, "inner");
		spin();
	}
}

/* Begins once it is asked to. */
static void outside(void)
{
	wait_for_file("begin");
	swap_until("end");
}

static void setup(void)
{
	char path[PATH_SIZE];
	int length = snprintf(path, sizeof(path), ".docker");

	NEED(mkdir(path, 0755));
	for (int i = 0; i < LEVELS; i++) {
		length += snprintf(path + length, sizeof(path) - length, "/d");
		NEED(mkdir(path, 0755));
	}
	NEED(mkdir("other", 0755));
	NEED(mkdir("other/.docker", 0755));
	NEED(mkdir(levels(".docker", "inner"), 0755));
	make_file(levels(".docker", "inner/secret"), "secret\n", 0644);
	NEED(mkdir("allowed", 0755));
	make_file("allowed/secret", "text\n", 0644);
	leave_behind(outside);
}

static int open_inside(int directory)
{
	int fd = openat(directory, "secret", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int attack(void)
{
	const char *seconds = getenv("REDTEAM_SECONDS");
	time_t until = time(NULL) + (seconds ? atoi(seconds) : RACE_SECONDS);
	int directory = NEED(open(levels(".docker", "inner"), O_PATH | O_DIRECTORY | O_CLOEXEC));
	int error;

	make_file("begin", "x", 0644);
	do
		error = open_inside(directory);
	while (error == EACCES && time(NULL) <= until);
	make_file("end", "x", 0644);
	close(directory);
	return error;
}

static int control(void)
{
	int directory = NEED(open("allowed", O_PATH | O_DIRECTORY | O_CLOEXEC)), error;

	error = open_inside(directory);
	close(directory);
	return error;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
