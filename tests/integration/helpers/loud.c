// SPDX-License-Identifier: Apache-2.0
/*
 * Takes as much as it can, to see what is left for others: loud WAY [ARGUMENT...]
 *
 *   flood FILE       tries to open files beside FILE by ever other long names, until it is killed
 *   count FILE N     the same on every processor but one, half of them by one name, at least N in
 *   all and until there is a line
 *                    on standard input; prints how many, and waits for the end of standard input
 *   quiet FILE N     tries to open N of them, one after the other, and prints what the fastest ten
 *   of them cost
 *   hide FILE N SECRET  tries to open N of them, then to read SECRET
 *   long FILE N      tries to make N directories beside FILE whose names are control characters
 *   nameless DIR N   holds N files without a name, or as many as it gets, until it is killed
 *   tasks            starts threads until it is refused another
 *   credentials      opens files, each under credentials of its own, until it is refused others
 *   queues           makes System V message queues until it is refused another
 *   modest           starts one child and makes one queue, and says whether it got them
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK  8192
#define BATCH  10
#define LONGER 180

/* A name that nobody has asked for yet. */
static int try_beside(const char *file, const char *prefix, long number, int padding)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s-%s-%0*ld", file, prefix, padding, number);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int flood(const char *file)
{
	fork();
	for (long i = 0;; i++)
		if (try_beside(file, getpid() % 2 ? "odd" : "even", i, LONGER) != EACCES)
			return 1;
}

/* What the processes that count share. */
struct tally {
	_Atomic long tried, wrong;
	_Atomic bool over;
};

static void add_to(struct tally *tally, const char *file, long number)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "count-%d", getpid());
	if (number % 2 ? open(file, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES
		       : try_beside(file, prefix, number, LONGER) != EACCES)
		tally->wrong++;
	tally->tried++;
}

static int count(const char *file, long many)
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct pollfd told = {.fd = STDIN_FILENO, .events = POLLIN};
	char line[16];

	if (tally == MAP_FAILED)
		return 1;
	for (long i = 2; i < processors; i++) {
		if (fork() != 0)
			continue;
		for (long j = 0; !tally->over; j++)
			add_to(tally, file, j);
		_exit(0);
	}
	for (long j = 0; tally->tried < many || poll(&told, 1, 0) == 0; j++)
		add_to(tally, file, j);
	tally->over = true;
	while (wait(NULL) > 0)
		;
	printf("tried %ld wrong %ld\n", tally->tried, tally->wrong);
	fflush(stdout);
	while (read(STDIN_FILENO, line, sizeof(line)) > 0)
		;
	return tally->wrong != 0;
}

static long cpu_nsec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int quiet(const char *file, long many)
{
	long least = LONG_MAX, wrong = 0;

	for (long i = 0; i < many; i += BATCH) {
		long start = cpu_nsec();

		for (long j = i; j < i + BATCH; j++)
			wrong += try_beside(file, "quiet", j, 1) != EACCES;
		start = cpu_nsec() - start;
		if (start < least)
			least = start;
		usleep(20000);
	}
	printf("wrong %ld least %ld\n", wrong, least / BATCH);
	return wrong != 0;
}

static int hide(const char *file, long many, const char *secret)
{
	long wrong = 0;

	for (long i = 0; i < many; i++)
		wrong += try_beside(file, "hide", i, 1) != EACCES;
	wrong += open(secret, O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES;
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}

static int make_long(const char *file, long many)
{
	char path[PATH_MAX];
	long wrong = 0;

	for (long i = 0; i < many; i++) {
		int length = snprintf(path, sizeof(path), "%s-%ld-", file, i);

		memset(path + length, 1, 200);
		path[length + 200] = '\0';
		wrong += mkdir(path, 0700) == 0 || errno != EACCES;
	}
	printf("wrong %ld\n", wrong);
	return wrong != 0;
}

static int sleep_on(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

static int start_thread(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return -1;
	return clone(sleep_on, stack + STACK,
		     CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, NULL);
}

static void say_and_wait(const char *what, long many, int error)
{
	printf("%s %ld then %s\n", what, many, strerrorname_np(error));
	fflush(stdout);
	for (;;)
		pause();
}

static int tasks(void)
{
	long many = 0;

	while (start_thread() > 0)
		many++;
	say_and_wait("tasks", many, errno);
	return 1;
}

/* More files than there may be credentials: an open file holds those under which it was opened. */
#define FILES 40000

static int credentials(void)
{
	const struct rlimit files = {.rlim_cur = FILES, .rlim_max = FILES};
	long many = 0;

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return 1;
	while (prctl(PR_SET_KEEPCAPS, many % 2, 0, 0, 0) == 0 && open("/", O_PATH | O_CLOEXEC) >= 0)
		many++;
	say_and_wait("credentials", many, errno);
	return 1;
}

static int nameless(const char *directory, long most)
{
	const struct rlimit files = {.rlim_cur = FILES, .rlim_max = FILES};
	long many = 0;

	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return 1;
	while (many < most && open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) >= 0)
		many++;
	say_and_wait("nameless", many, many < most ? errno : 0);
	return 1;
}

static int queues(void)
{
	long many = 0;

	while (msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0)
		many++;
	say_and_wait("queues", many, errno);
	return 1;
}

/* What a neighbour needs. */
static int modest(void)
{
	pid_t pid = fork();
	int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600), status = -1;

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, &status, 0);
	printf("child %s queue %s\n", status == 0 ? "yes" : "no", queue >= 0 ? "yes" : "no");
	if (queue >= 0)
		msgctl(queue, IPC_RMID, NULL);
	return status != 0 || queue < 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (strcmp(way, "flood") == 0 && argc == 3)
		return flood(argv[2]);
	if (strcmp(way, "count") == 0 && argc == 4)
		return count(argv[2], atol(argv[3]));
	if (strcmp(way, "quiet") == 0 && argc == 4)
		return quiet(argv[2], atol(argv[3]));
	if (strcmp(way, "hide") == 0 && argc == 5)
		return hide(argv[2], atol(argv[3]), argv[4]);
	if (strcmp(way, "long") == 0 && argc == 4)
		return make_long(argv[2], atol(argv[3]));
	if (strcmp(way, "nameless") == 0 && argc == 4)
		return nameless(argv[2], atol(argv[3]));
	if (strcmp(way, "tasks") == 0)
		return tasks();
	if (strcmp(way, "credentials") == 0)
		return credentials();
	if (strcmp(way, "queues") == 0)
		return queues();
	if (strcmp(way, "modest") == 0)
		return modest();
	return 2;
}
