// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: reads files in directories outside that are given the memory of its own, which it has
 *   removed
 * Hook: file_open
 * Errno: EACCES
 * Control: reads files in directories that it makes after removing others
 * Record: open $VICTIM/dir/$ANY
 * Where: tmpfs
 * Contexts: thread
 */
#include <sched.h>

#include "tests/redteam/net.h"

#define DIRECTORIES 3
#define ROUNDS	    12

/*
 * What is freed on a processor is given there to the next who asks, once nobody can be reading it
 * any more.
 */
static void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	NEED(sched_setaffinity(0, sizeof(one), &one));
}

static const char *file_in(const char *top, int number)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%d/file", top, number);
	return path;
}

static void make_directories(const char *top)
{
	for (int i = 0; i < DIRECTORIES; i++) {
		char *path = (char *)file_in(top, i);

		*strrchr(path, '/') = '\0';
		NEED(mkdir(path, 0755));
		make_file(file_in(top, i), "x", 0644);
	}
}

static void remove_directories(const char *top)
{
	for (int i = 0; i < DIRECTORIES; i++) {
		char *path = (char *)file_in(top, i);

		NEED(unlink(path));
		*strrchr(path, '/') = '\0';
		NEED(rmdir(path));
	}
}

static int read_directories(const char *top)
{
	int error = 0;

	for (int i = 0; i < DIRECTORIES; i++) {
		error = read_file(file_in(top, i));
		if (!error)
			return 0;
	}
	return error;
}

/* The host makes as many at once, and nothing else between: a socket would take a name's memory. */
static void have_directories_made(int connection, const char *top)
{
	char request[PATH_SIZE], byte;

	snprintf(request, sizeof(request), "fill:%s", top);
	NEED(write(connection, request, strlen(request)));
	NEED(read(connection, &byte, 1));
	if (byte != 'y')
		broken("the host could not make directories");
}

static int attack(void)
{
	struct address address = address_path(open_place("passer"));
	char top[PATH_SIZE];
	int error = 0;

	stay_on_one_processor();
	for (int round = 0; round < ROUNDS; round++) {
		int connection = socket_or_broken(AF_UNIX, SOCK_STREAM);

		NEED(connect(connection, &address.any, address.length));
		make_directories("mine");
		if (read_directories("mine"))
			broken("own directories");
		usleep(20000);
		remove_directories("mine");
		usleep(80000);
		snprintf(top, sizeof(top), "%s/%d-", victim("dir"), round);
		have_directories_made(connection, top);
		error = read_directories(top);
		close(connection);
		if (!error)
			break;
	}
	return error;
}

static int control(void)
{
	make_directories("other");
	if (read_directories("other"))
		broken("own directories");
	remove_directories("other");
	make_directories("other");
	return read_directories("other");
}

REDTEAM(.attack = attack, .control = control)
