// SPDX-License-Identifier: Apache-2.0
/*
 * An executor that starts code in ways that hit the moment in which it becomes an execution, and
 * the code that it starts: moment WAY|ACT RESULT...
 *
 *   storm|race|forks PAYLOAD RESULT OUTSIDE   many at once; threads of one child; children of a
 *   child that starts one
 *   pass PAYLOAD RESULT OUTSIDE               sends descriptors all the while
 *   victims PAYLOAD RESULT OUTSIDE SHARED     one after the other, each of which "attack" hears of
 *   before
 *   start PAYLOAD RESULT ACT LAST             just that
 *   traced|memory PAYLOAD RESULT ANY          code that traces, or has the memory open of, a
 *   process outside
 *
 *   act RESULT OUTSIDE, receive RESULT, attack RESULT SHARED, poke RESULT PID, scribble RESULT FD
 *
 * Code leaves what came of it in RESULT.PID; the executor prints with what each child ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STORM_THREADS  4
#define STORM_EACH     3
#define RACE_ROUNDS    4
#define RACE_THREADS   4
#define FORKS	       3
#define MESSAGES_EACH  40
#define VICTIMS	       6
#define PATIENCE_TICKS 60000 /* of 1 ms */

extern char **environ;

static void need(long result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	_exit(120);
}

static void leave(const char *result, const char *text)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s.%d", result, getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	need(fd, path);
	need(write(fd, text, strlen(text)), path);
	close(fd);
}

static void leave_number(const char *result, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld\n", number);
	leave(result, text);
}

static _Noreturn void start(const char *payload, const char *act, const char *result,
			    const char *last)
{
	char *argv[] = {(char *)payload, (char *)act, (char *)result, (char *)last, NULL};

	execve(payload, argv, environ);
	_exit(errno);
}

/* --- many at once ------------------------------------------------------------------------- */

static const char *payload, *result, *outside;
static pthread_barrier_t barrier;

static void *storm_thread(void *number)
{
	for (int i = 0; i < STORM_EACH; i++) {
		pid_t pid = (intptr_t)number % 2 ? vfork() : fork();

		if (pid == 0)
			start(payload, "act", result, outside);
		need(pid, "fork");
	}
	return NULL;
}

static void storm(void)
{
	pthread_t threads[STORM_THREADS];

	for (intptr_t i = 0; i < STORM_THREADS; i++)
		need(-pthread_create(&threads[i], NULL, storm_thread, (void *)i), "thread");
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *race_thread(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	start(payload, "act", result, outside);
}

/* One of them wins, and has the process for itself. */
static void race(void)
{
	for (int round = 0; round < RACE_ROUNDS; round++) {
		pthread_t thread;

		if (fork() != 0)
			continue;
		pthread_barrier_init(&barrier, NULL, RACE_THREADS);
		for (int i = 0; i < RACE_THREADS; i++)
			need(-pthread_create(&thread, NULL, race_thread, NULL), "thread");
		for (;;)
			pause();
	}
}

static void *forks_thread(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < FORKS; i++)
		if (fork() == 0)
			start(payload, "act", result, outside);
	for (;;)
		pause();
}

/* What its threads start while another becomes an execution is none of that execution's tasks. */
static void forks(void)
{
	pthread_t threads[2];

	if (fork() != 0)
		return;
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		need(-pthread_create(&threads[i], NULL, forks_thread, NULL), "thread");
	pthread_barrier_wait(&barrier);
	start(payload, "act", result, outside);
}

static void act(const char *where)
{
	int fd = open(where, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	leave_number(result, fd < 0 ? errno : 0);
}

/* --- descriptors -------------------------------------------------------------------------- */

static void send_one(int to, char kind, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec data = {&kind, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = (struct cmsghdr *)control;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	need(sendmsg(to, &message, MSG_NOSIGNAL), "sendmsg");
}

/*
 * Some lie there before the child starts anything, others come while it is held and when it runs.
 */
static void pass(void)
{
	int file = open(outside, O_RDWR | O_CREAT | O_CLOEXEC, 0644), ends[2], pipes[2];

	need(file, outside);
	need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
	need(pipe2(pipes, O_CLOEXEC), "pipe");
	send_one(ends[1], 'f', file);
	send_one(ends[1], 'p', pipes[0]);
	if (fork() == 0) {
		need(dup2(ends[0], 0), "dup2");
		start(payload, "receive", result, NULL);
	}
	for (int i = 1; i < MESSAGES_EACH; i++) {
		send_one(ends[1], 'f', file);
		send_one(ends[1], 'p', pipes[0]);
		usleep(500);
	}
	close(ends[1]);
	close(ends[0]);
}

static void receive(void)
{
	int files = 0, pipes = 0, messages = 0;
	char kind, control[CMSG_SPACE(sizeof(int))], text[96];

	for (;;) {
		struct iovec data = {&kind, 1};
		struct msghdr message = {.msg_iov = &data,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};
		bool came;

		if (recvmsg(0, &message, 0) <= 0)
			break;
		messages++;
		came = message.msg_controllen >= CMSG_LEN(sizeof(int));
		files += kind == 'f' && came;
		pipes += kind == 'p' && came;
	}
	snprintf(text, sizeof(text), "%d %d %d\n", messages, files, pipes);
	leave(result, text);
}

/* --- another execution, which knows of each victim before it becomes one ------------------- */

struct shared {
	_Atomic int pid; /* 0: there is none at this moment */
	_Atomic int seen;
	_Atomic int stop;
	_Atomic uintptr_t address;
};

static struct shared *share(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct shared *shared;

	need(fd, path);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		need(-1, "mmap");
	close(fd);
	return shared;
}

static void victims(const char *path)
{
	struct shared *shared = share(path);

	for (int i = 0; i < VICTIMS; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			atomic_store(&shared->address, (uintptr_t)&status);
			atomic_store(&shared->pid, getpid());
			for (int t = 0; t < PATIENCE_TICKS; t++) {
				if (atomic_load(&shared->seen) == getpid())
					start(payload, "act", result, outside);
				usleep(1000);
			}
			_exit(121);
		}
		need(waitpid(pid, &status, 0), "waitpid");
		printf("%d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
		atomic_store(&shared->pid, 0);
	}
	atomic_store(&shared->stop, 1);
}

static long attach(pid_t pid, struct shared *shared)
{
	(void)shared;
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0)
		return -1;
	waitpid(pid, NULL, __WALL);
	return ptrace(PTRACE_DETACH, pid, 0, 0) < 0 && errno != ESRCH ? -1 : 0;
}

static long open_of(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd;
}

static long open_memory(pid_t pid, struct shared *shared)
{
	(void)shared;
	return open_of(pid, "mem", O_RDWR);
}

static long open_environment(pid_t pid, struct shared *shared)
{
	(void)shared;
	return open_of(pid, "environ", O_RDONLY);
}

/* What is not mapped there any more could have been written all the same. */
static long write_memory(pid_t pid, struct shared *shared)
{
	int value = 0;
	struct iovec local = {&value, sizeof(value)};
	struct iovec remote = {(void *)atomic_load(&shared->address), sizeof(value)};
	long n = process_vm_writev(pid, &local, 1, &remote, 1, 0);

	return n < 0 && errno == EFAULT ? 0 : n;
}

static long take_descriptor(pid_t pid, struct shared *shared)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), taken;

	(void)shared;
	if (process < 0)
		return -1;
	taken = (int)syscall(SYS_pidfd_getfd, process, 1, 0);
	close(process);
	if (taken >= 0)
		close(taken);
	return taken;
}

static long let_go_on(pid_t pid, struct shared *shared)
{
	(void)shared;
	return kill(pid, SIGCONT);
}

static const struct {
	const char *name;
	long (*try)(pid_t, struct shared *);
} tries[] = {
	{"attach", attach},	     {"mem", open_memory},	 {"environ", open_environment},
	{"vm_writev", write_memory}, {"getfd", take_descriptor}, {"cont", let_go_on},
};

#define TRIES (sizeof(tries) / sizeof(*tries))

/* NAME WORKED ERRNO...: each errno that there was. A process that is gone says nothing. */
static void attack(const char *path)
{
	struct shared *shared = share(path);
	bool seen[TRIES][256] = {};
	long worked[TRIES] = {};
	char text[2048];
	size_t used = 0;

	while (!atomic_load(&shared->stop)) {
		pid_t pid = atomic_load(&shared->pid);

		for (size_t i = 0; pid && i < TRIES; i++) {
			if (tries[i].try(pid, shared) >= 0)
				worked[i]++;
			else if (errno != ESRCH && errno != ENOENT)
				seen[i][errno & 255] = true;
		}
		atomic_store(&shared->seen, pid);
		if (!pid)
			usleep(1000);
	}
	for (size_t i = 0; i < TRIES; i++) {
		used += snprintf(text + used, sizeof(text) - used, "%s %ld", tries[i].name,
				 worked[i]);
		for (int e = 1; e < 256; e++)
			if (seen[i][e])
				used += snprintf(text + used, sizeof(text) - used, " %d", e);
		used += snprintf(text + used, sizeof(text) - used, "\n");
	}
	leave(result, text);
}

/* --- what comes along --------------------------------------------------------------------- */

static pid_t bystander(void)
{
	pid_t pid = fork();

	need(pid, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

static uintptr_t word = 1;

static void come_along(bool traced)
{
	pid_t other = bystander(), pid = fork();
	char text[64], path[64];

	need(pid, "fork");
	if (pid == 0 && traced) {
		need(ptrace(PTRACE_ATTACH, other, 0, 0), "ptrace");
		need(waitpid(other, NULL, __WALL), "waitpid");
		snprintf(text, sizeof(text), "%d:%lu", other, (unsigned long)&word);
		start(payload, "poke", result, text);
	}
	if (pid == 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", other);
		snprintf(text, sizeof(text), "%d:%lu", open(path, O_RDWR), (unsigned long)&word);
		start(payload, "scribble", result, text);
	}
	need(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), "waitid");
	kill(other, SIGKILL);
}

static void poke(const char *where)
{
	pid_t pid = atoi(where);
	unsigned long address = strtoul(strchr(where, ':') + 1, NULL, 10);

	leave_number(result, ptrace(PTRACE_POKEDATA, pid, address, 7) < 0 ? errno : 0);
}

static void scribble(const char *where)
{
	unsigned long address = strtoul(strchr(where, ':') + 1, NULL, 10);

	leave_number(result, pwrite(atoi(where), "x", 1, (off_t)address) < 0 ? errno : 0);
}

/* --- which -------------------------------------------------------------------------------- */

static void start_one(const char *last)
{
	if (fork() == 0)
		start(payload, outside, result, last);
}

static bool as_code(const char *what, const char *last)
{
	if (strcmp(what, "act") == 0)
		act(last);
	else if (strcmp(what, "receive") == 0)
		receive();
	else if (strcmp(what, "attack") == 0)
		attack(last);
	else if (strcmp(what, "poke") == 0)
		poke(last);
	else if (strcmp(what, "scribble") == 0)
		scribble(last);
	else
		return false;
	return true;
}

static void as_executor(const char *way, char **argv)
{
	if (strcmp(way, "storm") == 0)
		storm();
	else if (strcmp(way, "race") == 0)
		race();
	else if (strcmp(way, "forks") == 0)
		forks();
	else if (strcmp(way, "pass") == 0)
		pass();
	else if (strcmp(way, "victims") == 0)
		victims(argv[5]);
	else if (strcmp(way, "start") == 0)
		start_one(argv[5]);
	else
		come_along(strcmp(way, "traced") == 0);
}

int main(int argc, char **argv)
{
	int status;

	need(argc < 3 ? -1 : 0, "usage: moment WAY|ACT ...");
	result = argv[2];
	if (as_code(argv[1], argc > 3 ? argv[3] : NULL))
		return 0;
	need(argc < 5 ? -1 : prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "usage: moment WAY ...");
	payload = argv[2];
	result = argv[3];
	outside = argv[4];
	as_executor(argv[1], argv);
	while (wait(&status) > 0)
		printf("%d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}
