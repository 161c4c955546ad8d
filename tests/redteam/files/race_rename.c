// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: moves a directory to and fro while another thread climbs out of it
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $VICTIM/secret
 */
#include <pthread.h>

#include "tests/redteam/attack.h"

#define SECONDS 5

static void *storm(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		renameat2(AT_FDCWD, "a/b", AT_FDCWD, "b", 0);
		renameat2(AT_FDCWD, "b", AT_FDCWD, "a/b", 0);
	}
	return NULL;
}

static int attack(void)
{
	bool stop = false, won = false, refused = false;
	time_t until = time(NULL) + SECONDS;
	pthread_t thread;
	int inside;

	if ((mkdir("a", 0755) < 0 || mkdir("a/b", 0755) < 0) && errno != EEXIST)
		broken("mkdir");
	inside = NEED(open("a/b", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (pthread_create(&thread, NULL, storm, &stop))
		broken("pthread_create");
	for (int i = 0; i < 4000 && !won && time(NULL) < until; i++) {
		/* From wherever the directory is at this moment. */
		int up = openat(inside, "../..", O_PATH | O_CLOEXEC);
		int fd = open(victim("secret"), O_RDONLY | O_CLOEXEC);

		won = fd >= 0;
		refused |= fd < 0 && errno == EACCES;
		if (fd >= 0)
			close(fd);
		if (up >= 0)
			close(up);
	}
	stop = true;
	pthread_join(thread, NULL);
	if (won)
		return 0;
	return refused ? EACCES : BROKEN;
}

REDTEAM(.attack = attack)
