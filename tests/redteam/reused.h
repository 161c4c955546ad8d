/* SPDX-License-Identifier: Apache-2.0 */
/* The attacker removes directories, and the kernel gives their memory to directories outside. */
#ifndef CORDON_REDTEAM_REUSED_H
#define CORDON_REDTEAM_REUSED_H

#include <sched.h>

#include "tests/redteam/net.h"

#define DIRECTORIES 3
#define ROUNDS	    12

/*
 * The kernel gives freed memory to the next caller on the same processor, after a grace period of
 * RCU.
 */
static inline void stay_on_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	NEED(sched_setaffinity(0, sizeof(one), &one));
}

static inline const char *file_in(const char *top, int number, const char *file)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s%d/%s", top, number, file);
	return path;
}

static inline void make_directories(const char *top)
{
	for (int i = 0; i < DIRECTORIES; i++) {
		char *path = (char *)file_in(top, i, "file");

		*strrchr(path, '/') = '\0';
		NEED(mkdir(path, 0755));
		make_file(file_in(top, i, "file"), "x", 0644);
	}
}

static inline void remove_directories(const char *top)
{
	for (int i = 0; i < DIRECTORIES; i++) {
		char *path = (char *)file_in(top, i, "file");

		NEED(unlink(path));
		*strrchr(path, '/') = '\0';
		NEED(rmdir(path));
	}
}

static inline int read_directories(const char *top, const char *file)
{
	int error = 0;

	for (int i = 0; i < DIRECTORIES; i++) {
		error = read_file(file_in(top, i, file));
		if (!error)
			return 0;
	}
	return error;
}

/* Nothing else is made between, because a socket would take the memory of a name. */
static inline void have_directories_made(int connection, const char *kind, const char *top)
{
	char request[PATH_SIZE], byte;

	snprintf(request, sizeof(request), "%s:%s", kind, top);
	NEED(write(connection, request, strlen(request)));
	NEED(read(connection, &byte, 1));
	if (byte != 'y')
		broken("the host could not make directories");
}

/* `kind`: how the host makes its directories (host.c). `file`: in them. */
static inline int read_reused(const char *kind, const char *file)
{
	struct address address = address_path(open_place("passer"));
	char top[PATH_SIZE];
	int error = 0;

	stay_on_one_processor();
	for (int round = 0; round < ROUNDS; round++) {
		int connection = socket_or_broken(AF_UNIX, SOCK_STREAM);

		NEED(connect(connection, &address.any, address.length));
		make_directories("mine");
		if (read_directories("mine", "file"))
			broken("own directories");
		usleep(20000);
		remove_directories("mine");
		usleep(80000);
		snprintf(top, sizeof(top), "%s/%d-", victim("dir"), round);
		have_directories_made(connection, kind, top);
		error = read_directories(top, file);
		close(connection);
		if (!error)
			break;
	}
	return error;
}

static inline int read_anew(void)
{
	make_directories("other");
	if (read_directories("other", "file"))
		broken("own directories");
	remove_directories("other");
	make_directories("other");
	return read_directories("other", "file");
}

#endif
