/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name that moves from a directory whose rules deny something to one whose rules do not, at the
 * moment in which it is opened by its old name. Whoever remembers what the rules say of directories
 * must not file the one's under the other: then ".config/gcloud", which is denied, could be opened
 * right afterwards.
 *
 * One move per round, so that whatever was remembered wrongly is still believed. Who begins when is
 * steered to where the name is found half of the time: there the move comes shortly after the
 * look-up. REDTEAM_SECONDS: how long.
 */
#ifndef CORDON_TESTS_REDTEAM_RENAME_RACE_H
#define CORDON_TESTS_REDTEAM_RENAME_RACE_H

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/redteam/attack.h"

#define RENAME_RACE_SECONDS 2
#define RENAME_RACE_SPINS   4096 /* before the other side is given way */
#define RENAME_RACE_STEP    32
#define RENAME_RACE_JITTER  2048

struct rename_race {
	const char *sealed_name; /* in ".config" */
	const char *free_name;	 /* in "plain" */
	int flags;		 /* to open it with */
	atomic_uint begin;	 /* the round that the mover is to take part in */
	atomic_uint done;
	atomic_bool stop;
	int lead; /* of the mover over the opener, in turns; negative: the opener's over the mover */
	unsigned int seed;
};

/* Short waits are to be short; on one processor the other side has to get on. */
static inline void rename_race_wait(unsigned int turn)
{
	if (turn % RENAME_RACE_SPINS == RENAME_RACE_SPINS - 1)
		sched_yield();
}

static inline void rename_race_delay(int turns)
{
	for (volatile int i = turns; i > 0; i--)
		;
}

/* As root, before: what the attacker may use and what it may not. */
static inline void rename_race_setup(void)
{
	NEED(mkdir(".config", 0755));
	NEED(mkdir("plain", 0755));
	make_file(".config/gcloud", "secret\n", 0644);
	make_file(".config/other", "text\n", 0644);
	NEED(chown(".config", attacker(), attacker()));
	NEED(chown("plain", attacker(), attacker()));
}

static void *rename_race_mover(void *context)
{
	struct rename_race *race = context;

	for (unsigned int round = 1;; round++) {
		for (unsigned int turn = 0; atomic_load(&race->begin) != round; turn++) {
			if (atomic_load(&race->stop))
				return NULL;
			rename_race_wait(turn);
		}
		rename_race_delay(-race->lead);
		rename(race->sealed_name, race->free_name);
		atomic_store(&race->done, round);
	}
}

/* 0: it was opened; else the errno. */
static inline int rename_race_round(struct rename_race *race, unsigned int round)
{
	int fd, jitter;

	race->seed = race->seed * 1103515245u + 12345u;
	jitter = (int)(race->seed >> 8) % RENAME_RACE_JITTER;
	if (rename(race->free_name, race->sealed_name) < 0 && errno != ENOENT)
		broken("rename");
	/* The directory is remembered, rightly, and no longer believed once something moves. */
	open_with(".config/other", O_RDONLY);
	atomic_store(&race->begin, round);
	rename_race_delay(race->lead + jitter);
	fd = open(race->sealed_name, race->flags | O_CLOEXEC);
	for (unsigned int turn = 0; atomic_load(&race->done) != round; turn++)
		rename_race_wait(turn);
	race->lead += fd >= 0 ? RENAME_RACE_STEP : -RENAME_RACE_STEP;
	if (fd >= 0)
		close(fd);
	return read_file(".config/gcloud");
}

static inline int rename_race_run(const char *name, int flags)
{
	char sealed_name[64], free_name[64];
	struct rename_race race = {
		.sealed_name = sealed_name, .free_name = free_name, .flags = flags};
	const char *seconds = getenv("REDTEAM_SECONDS");
	time_t until = time(NULL) + (seconds ? atoi(seconds) : RENAME_RACE_SECONDS);
	pthread_t mover;
	int error = EACCES;

	snprintf(sealed_name, sizeof(sealed_name), ".config/%s", name);
	snprintf(free_name, sizeof(free_name), "plain/%s", name);
	if (pthread_create(&mover, NULL, rename_race_mover, &race))
		broken("pthread_create");
	for (unsigned int round = 1; error == EACCES && time(NULL) <= until; round++)
		error = rename_race_round(&race, round);
	atomic_store(&race.stop, true);
	pthread_join(mover, NULL);
	return error;
}

/* By the names that are allowed, all of it works, moves included. */
static inline int rename_race_control(const char *name, int flags)
{
	char sealed_name[64], free_name[64];
	int error;

	snprintf(sealed_name, sizeof(sealed_name), ".config/%s", name);
	snprintf(free_name, sizeof(free_name), "plain/%s", name);
	for (int i = 0; i < 100; i++) {
		if (rename(sealed_name, free_name) < 0)
			return errno;
		error = open_with(free_name, flags);
		if (error || rename(free_name, sealed_name) < 0)
			return error ? error : errno;
		error = open_with(sealed_name, flags);
		if (error)
			return error;
		error = read_file(".config/other");
		if (error)
			return error;
	}
	return 0;
}

#endif
