// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the same questions over and over while everything moves: races ALLOWED REFUSED WORK SECONDS.
 * Files below the directory ALLOWED may be read, those below REFUSED may not, and both answers must
 * come each time: from processes that fork and exec all the while, beside threads that move
 * directories of the directory WORK to and fro. Prints "asserted N wrong M" and ends with 0 if none
 * was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS	    2
#define START_TRIES 100
#define ROUNDS	    50
#define SHOWN	    10 /* of those that are wrong */

static struct {
	atomic_long asserted;
	atomic_long wrong;
	atomic_long forks_refused;
} *shared;

static const char *allowed, *refused;

static void ask(const char *directory, bool may)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	atomic_fetch_add(&shared->asserted, 1);
	if (may ? fd < 0 : fd >= 0 || errno != EACCES) {
		if (atomic_fetch_add(&shared->wrong, 1) < SHOWN)
			fprintf(stderr, "%s: %s\n", path, fd < 0 ? strerror(errno) : "opened");
	}
	if (fd >= 0)
		close(fd);
}

static void ask_both(void)
{
	ask(allowed, true);
	ask(refused, false);
}

static void ask_in_child(char **argv)
{
	pid_t pid = fork();

	if (pid < 0) {
		atomic_fetch_add(&shared->forks_refused, 1);
		return;
	}
	if (pid == 0) {
		ask_both();
		execv("/proc/self/exe", argv);
		_exit(3);
	}
	waitpid(pid, NULL, 0);
}

static void *storm(void *number)
{
	char here[64], there[64], inside[80];

	snprintf(here, sizeof(here), "a%ld", (long)number);
	snprintf(there, sizeof(there), "b%ld", (long)number);
	snprintf(inside, sizeof(inside), "%s/deep", there);
	mkdir(here, 0755);
	mkdir(there, 0755);
	for (;;) {
		rename(here, inside);
		rename(inside, here);
	}
	return NULL;
}

static void work(char **argv, time_t until)
{
	char *once[] = {argv[0], argv[1], argv[2], argv[3], "once", NULL};
	pthread_t thread;

	if (pthread_create(&thread, NULL, storm, (void *)(long)getpid()))
		exit(2);
	while (time(NULL) < until) {
		for (int i = 0; i < ROUNDS; i++)
			ask_both();
		ask_in_child(once);
	}
	_exit(0);
}

/* Now and then a fork is refused because no storage is to be had at that moment. */
static void start_worker(char **argv)
{
	for (int tries = 0; tries < START_TRIES; tries++) {
		pid_t pid = fork();

		if (pid == 0)
			work(argv, time(NULL) + atoi(argv[4]));
		if (pid > 0)
			return;
		atomic_fetch_add(&shared->forks_refused, 1);
	}
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 5)
		return 2;
	allowed = argv[1];
	refused = argv[2];
	if (chdir(argv[3]) < 0)
		return 2;
	fd = open("counters", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)) < 0)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		return 2;
	if (strcmp(argv[4], "once") == 0) {
		ask_both();
		return 0;
	}
	for (int i = 0; i < WORKERS; i++)
		start_worker(argv);
	while (wait(NULL) > 0 || errno == EINTR)
		;
	printf("asserted %ld wrong %ld forks refused %ld\n", shared->asserted, shared->wrong,
	       shared->forks_refused);
	return shared->wrong || !shared->asserted;
}
