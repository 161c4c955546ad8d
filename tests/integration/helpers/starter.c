// SPDX-License-Identifier: Apache-2.0
/*
 * An executor that knows nothing of cordon and starts one program in the way that it is told:
 * starter WAY PROGRAM [ARG...]. Waits for all that comes of it; prints how the last one ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CGROUP "/sys/fs/cgroup/cordon-test-elsewhere"

extern char **environ;

static void need(long result, const char *what)
{
	if (result >= 0)
		return;
	perror(what);
	_exit(120);
}

static _Noreturn void run(char **argv)
{
	execve(argv[0], argv, environ);
	_exit(errno);
}

static void *run_in_thread(void *argv)
{
	run(argv);
}

static void by_fork(char **argv)
{
	if (fork() == 0)
		run(argv);
}

static void by_vfork(char **argv)
{
	if (vfork() == 0) {
		execve(argv[0], argv, environ);
		_exit(errno);
	}
}

static void by_spawn(char **argv)
{
	pid_t pid;

	(void)posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
}

/* The thread takes over the identity of its process, whose first thread has another address. */
static void by_thread_of_child(char **argv)
{
	pthread_t thread;

	if (fork() != 0)
		return;
	need(-pthread_create(&thread, NULL, run_in_thread, argv), "pthread_create");
	pause();
}

static bool is_traced(void)
{
	char text[4096];
	const char *tracer;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = 0;
	tracer = strstr(text, "\nTracerPid:");
	return tracer && atoi(tracer + strlen("\nTracerPid:")) != 0;
}

static void *run_once_traced(void *argv)
{
	while (!is_traced())
		usleep(1000);
	run(argv);
}

/* Who traces the first thread has the exec wait for its end. */
static void by_traced_child(char **argv)
{
	pthread_t thread;

	if (fork() != 0)
		return;
	need(-pthread_create(&thread, NULL, run_once_traced, argv), "pthread_create");
	pause();
}

static void *fork_in_thread(void *argv)
{
	by_fork(argv);
	return NULL;
}

static void by_thread(char **argv)
{
	pthread_t thread;

	need(-pthread_create(&thread, NULL, fork_in_thread, argv), "pthread_create");
	pthread_join(thread, NULL);
}

/* What is run has another parent, session and group, and its parent has gone. */
static void by_orphan(char **argv)
{
	pid_t middle = fork();

	if (middle == 0) {
		setsid();
		if (fork() == 0) {
			while (getppid() == middle)
				usleep(1000);
			setpgid(0, 0);
			run(argv);
		}
		_exit(0);
	}
}

/* A program in memory: by descriptor, which has no path. */
static void by_memory(char **argv)
{
	if (fork() == 0) {
		int from = open(argv[0], O_RDONLY | O_CLOEXEC);
		int memory = memfd_create("program", MFD_CLOEXEC);
		struct stat st;

		need(fstat(from, &st), "fstat");
		need(sendfile(memory, from, NULL, (size_t)st.st_size), "sendfile");
		fexecve(memory, argv, environ);
		_exit(errno);
	}
}

static void by_descriptor(char **argv)
{
	if (fork() == 0) {
		fexecve(open(argv[0], O_RDONLY | O_CLOEXEC), argv, environ);
		_exit(errno);
	}
}

/* Born in a cgroup that is not the executor's. */
static void by_clone_into(char **argv)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	int cgroup;

	(void)mkdir(CGROUP, 0755);
	cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(cgroup, CGROUP);
	args.cgroup = (unsigned int)cgroup;
	if (syscall(SYS_clone3, &args, sizeof(args)) == 0)
		run(argv);
}

static void by_moving(char **argv)
{
	(void)mkdir(CGROUP, 0755);
	if (fork() == 0) {
		int procs = open(CGROUP "/cgroup.procs", O_WRONLY | O_CLOEXEC);

		need(write(procs, "0\n", 2), CGROUP);
		run(argv);
	}
}

/* The same, which nobody can write any more, as runc runs itself. */
static void by_sealed(char **argv)
{
	if (fork() == 0) {
		int from = open(argv[0], O_RDONLY | O_CLOEXEC);
		int memory = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		struct stat st;

		need(fstat(from, &st), "fstat");
		need(sendfile(memory, from, NULL, (size_t)st.st_size), "sendfile");
		need(fcntl(memory, F_ADD_SEALS,
			   F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
		     "F_ADD_SEALS");
		fexecve(memory, argv, environ);
		_exit(errno);
	}
}

static void enter_container(void)
{
	need(unshare(CLONE_NEWNS), "unshare");
}

static void by_container(char **argv)
{
	if (fork() == 0) {
		enter_container();
		run(argv);
	}
}

static void by_itself_in_container(char **argv)
{
	enter_container();
	run(argv);
}

/* Among files of somebody else's, on the host. */
static void by_chroot(char **argv)
{
	if (fork() == 0) {
		char work[4096];

		need(getcwd(work, sizeof(work)) ? 0 : -1, "getcwd");
		need(chroot(getenv("ROOT")), "chroot");
		need(chdir(work), work);
		run(argv);
	}
}

/* No child at all: as a shell does with its last command. */
static void by_itself(char **argv)
{
	run(argv);
}

static const struct {
	const char *name;
	void (*start)(char **argv);
} ways[] = {
	{"fork", by_fork},
	{"vfork", by_vfork},
	{"spawn", by_spawn},
	{"thread", by_thread},
	{"thread-of-child", by_thread_of_child},
	{"traced-child", by_traced_child},
	{"orphan", by_orphan},
	{"memory", by_memory},
	{"descriptor", by_descriptor},
	{"clone-into", by_clone_into},
	{"moving", by_moving},
	{"itself", by_itself},
	{"sealed", by_sealed},
	{"container", by_container},
	{"itself-in-container", by_itself_in_container},
	{"chroot", by_chroot},
};

int main(int argc, char **argv)
{
	int status = 0, last = 0;

	need(argc < 3 ? -1 : prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
	     "usage: starter WAY PROGRAM");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			ways[i].start(argv + 2);
	while (wait(&status) > 0)
		last = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	printf("%d\n", last);
	return 0;
}
