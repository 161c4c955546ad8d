// SPDX-License-Identifier: Apache-2.0
/*
 * Tries to read a file from wherever a process can get to: stay WAY FILE. It prints how many tries
 * there were and how many of them succeeded, "tries N opened M", and ends with 0 if none did.
 * Counters are shared by all processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	atomic_int tries;
	atomic_int opened;
	atomic_int odd; /* refused with another errno than EACCES */
	atomic_int forks_refused;
} *shared;

static const char *file;
static char **arguments;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void attempt(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	atomic_fetch_add(&shared->tries, 1);
	if (fd >= 0) {
		atomic_fetch_add(&shared->opened, 1);
		close(fd);
	} else if (errno != EACCES) {
		atomic_fetch_add(&shared->odd, 1);
	}
}

static pid_t fork_or_count(void)
{
	pid_t pid = fork();

	if (pid < 0)
		atomic_fetch_add(&shared->forks_refused, 1);
	return pid;
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* Two workers, one for each processor, and 1000 children of each. */
static void storm(void)
{
	for (int worker = 0; worker < 2; worker++) {
		if (fork_or_count() != 0)
			continue;
		for (int i = 0; i < 1000; i++) {
			pid_t pid = fork_or_count();

			if (pid == 0) {
				attempt();
				attempt();
				_exit(0);
			}
			/* Refused rather than unlabelled: tried again. */
			if (pid < 0)
				i--;
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		}
		wait_for_all();
		_exit(0);
	}
	wait_for_all();
}

static void deep(void)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork_or_count();

		if (pid < 0)
			break;
		if (pid > 0) {
			waitpid(pid, NULL, 0);
			if (i > 0)
				_exit(0);
			return;
		}
	}
	attempt();
	_exit(0);
}

/*
 * Every process goes on forking, however many there are. What is left over sleeps until it is
 * killed.
 */
static void bomb(void)
{
	pid_t first = getpid();

	for (int i = 0; i < 12; i++) {
		fork_or_count();
		attempt();
	}
	if (getpid() != first)
		for (;;)
			pause();
	sleep(1);
}

/* A daemon as daemons are made: a session of its own, no parent, another directory. */
static void daemonize(void)
{
	pid_t child = fork_or_count();

	if (child == 0) {
		setsid();
		if (fork_or_count() == 0) {
			usleep(100000);
			if (chdir("/") < 0)
				die("chdir");
			attempt();
			for (;;)
				pause();
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
	sleep(1);
}

static void *in_thread(void *unused)
{
	attempt();
	return unused;
}

static void threads(void)
{
	pthread_t thread[50];

	for (int i = 0; i < 50; i++)
		if (pthread_create(&thread[i], NULL, in_thread, NULL))
			die("pthread_create");
	for (int i = 0; i < 50; i++)
		pthread_join(thread[i], NULL);
}

static void vforks(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			attempt();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/*
 * One program after the other in the same process. The counter of how many are left is in the name.
 */
static void chain(void)
{
	int left = atoi(arguments[0]);

	attempt();
	if (!left)
		left = 51;
	if (left > 1) {
		char name[16];

		snprintf(name, sizeof(name), "%d", left - 1);
		arguments[0] = name;
		execv("/proc/self/exe", arguments);
		die("execv");
	}
}

/* Children that share everything, in all ways that clone() has. */
static int in_clone(void *unused)
{
	(void)unused;
	attempt();
	return 0;
}

static void clones(void)
{
	static const int flags[] = {SIGCHLD, CLONE_VM | SIGCHLD, CLONE_FS | CLONE_FILES | SIGCHLD,
				    CLONE_PARENT | SIGCHLD, CLONE_VM | CLONE_VFORK | SIGCHLD};
	static char stacks[5][65536];

	/*
	 * A level below, where CLONE_PARENT makes a child of this process, and not of whoever
	 * started it.
	 */
	if (fork_or_count() == 0) {
		for (int i = 0; i < 5; i++)
			if (clone(in_clone, stacks[i] + sizeof(stacks[i]), flags[i], NULL) < 0)
				die("clone");
		wait_for_all();
		_exit(0);
	}
	wait_for_all();
	sleep(1);
}

/* Waits for somebody outside to move it: a file called "moved" appears. */
static void moved(void)
{
	if (fork_or_count() == 0) {
		FILE *out = fopen("pid", "w");

		if (!out)
			die("pid");
		fprintf(out, "%d\n", getpid());
		fclose(out);
		while (access("moved", F_OK) < 0)
			usleep(20000);
		attempt();
		if (fork_or_count() == 0)
			attempt();
		for (;;)
			pause();
	}
	while (access("moved", F_OK) < 0)
		usleep(20000);
	sleep(1);
}

static void chrooted(void)
{
	if (chroot(".") == 0) {
		fputs("chroot worked\n", stderr);
		exit(2);
	}
	attempt();
}

static const struct {
	const char *name;
	void (*go)(void);
} ways[] = {
	{"storm", storm},     {"deep", deep},	    {"bomb", bomb},   {"daemon", daemonize},
	{"threads", threads}, {"vforks", vforks},   {"chain", chain}, {"clones", clones},
	{"moved", moved},     {"chroot", chrooted},
};

int main(int argc, char **argv)
{
	const char *counters = "counters";
	int fd;

	if (argc != 3)
		return 2;
	arguments = argv;
	file = argv[2];
	fd = open(counters, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)) < 0)
		die(counters);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].go();
	printf("tries %d opened %d odd %d forks refused %d\n", shared->tries, shared->opened,
	       shared->odd, shared->forks_refused);
	return shared->opened || shared->odd || !shared->tries;
}
