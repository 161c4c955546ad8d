// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: opens a file in a directory whose files may be mapped, while the directory is moved away,
 *   and maps it there
 * Hook: mmap_file
 * Errno: EACCES
 * Control: maps it before that
 * Record: mmap $WORK/moved$ANY/file
 * As: root+names
 */
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/redteam/attack.h"

#define RACE_SECONDS 2
#define RACE_STEP    32
#define RACE_JITTER  4096
#define RACE_SPINS   4096 /* before the other side is given way */

struct race {
	char from[PATH_SIZE], to[PATH_SIZE];
	atomic_uint begin, done; /* rounds */
	atomic_bool stop;
	int lead; /* of the mover over the opener, in turns; negative: the opener's over the mover */
};

static void delay(int turns)
{
	for (volatile int i = turns; i > 0; i--)
		;
}

static void wait_for(atomic_uint *count, unsigned int round, const atomic_bool *stop)
{
	for (unsigned int turn = 0; atomic_load(count) != round && !atomic_load(stop); turn++)
		if (turn % RACE_SPINS == RACE_SPINS - 1)
			sched_yield();
}

static void *mover(void *context)
{
	struct race *race = context;

	for (unsigned int round = 1;; round++) {
		wait_for(&race->begin, round, &race->stop);
		if (atomic_load(&race->stop))
			return NULL;
		delay(-race->lead);
		NEED(rename(race->from, race->to));
		atomic_store(&race->done, round);
	}
}

static const char *file_in(const char *directory)
{
	static char path[PATH_SIZE + 8];

	snprintf(path, sizeof(path), "%s/file", directory);
	return path;
}

static void make(const char *directory)
{
	NEED(mkdir(directory, 0755));
	make_file(file_in(directory), "text\n", 0644);
}

/* Whoever begins when is steered to where the file is found by its old name half of the time. */
static int try(struct race *race, unsigned int round)
{
	int fd, error;

	snprintf(race->from, sizeof(race->from), "run/tree%u", round);
	snprintf(race->to, sizeof(race->to), "moved%u", round);
	make(race->from);
	atomic_store(&race->begin, round);
	delay(race->lead + rand() % RACE_JITTER);
	fd = open(file_in(race->from), O_RDONLY | O_CLOEXEC);
	wait_for(&race->done, round, &race->stop);
	race->lead += fd >= 0 ? RACE_STEP : -RACE_STEP;
	if (fd >= 0)
		close(fd);
	error = map_file(file_in(race->to));
	NEED(unlink(file_in(race->to)));
	NEED(rmdir(race->to));
	return error;
}

static int attack(void)
{
	const char *seconds = getenv("REDTEAM_SECONDS");
	time_t until = time(NULL) + (seconds ? atoi(seconds) : RACE_SECONDS);
	struct race race = {};
	pthread_t thread;
	int error = EACCES;

	/* By then it is known that the file system is mounted once. */
	if (read_file("own"))
		broken("own");
	if (pthread_create(&thread, NULL, mover, &race))
		broken("pthread_create");
	for (unsigned int round = 1; error == EACCES && time(NULL) <= until; round++)
		error = try(&race, round);
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	return error;
}

static int control(void)
{
	make("run/other");
	return map_file(file_in("run/other"));
}

REDTEAM(.attack = attack, .control = control)
