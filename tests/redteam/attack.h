/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every attack of the catalogue is made of. An attack is one program that ends with 0 if what
 * it tried worked and with the errno if it was refused; BROKEN says that it could not even be
 * tried.
 *
 *   PROGRAM setup     unconfined and as root, before: prepares what the attack needs
 *   PROGRAM attack    unconfined (has to work) and confined (has to be refused)
 *   PROGRAM control   confined: the nearest thing that is allowed, which has to work
 *   PROGRAM thread, vfork, handler   confined: the attack from a thread, a vforked child, a signal
 *   handler
 *
 * Each finds itself in a directory of its own below the work directory, with a file "own" and a
 * directory "run" whose files may be run, and has a directory of victims outside: see victim().
 */
#ifndef CORDON_TESTS_REDTEAM_ATTACK_H
#define CORDON_TESTS_REDTEAM_ATTACK_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BROKEN	  250
#define PATH_SIZE 512

struct redteam {
	void (*setup)(void);
	int (*attack)(void);
	int (*control)(void);
};

static inline void broken(const char *what)
{
	fprintf(stderr, "cannot be tried: %s: %s\n", what, strerror(errno));
	_exit(BROKEN);
}

/* For what has to work so that the attack can begin. */
#define NEED(call)                                                                                 \
	({                                                                                         \
		__typeof__(call) result_ = (call);                                                 \
		if ((long)result_ == -1)                                                           \
			broken(#call);                                                             \
		result_;                                                                           \
	})

static inline int outcome(long result)
{
	return result < 0 ? errno : 0;
}

static inline const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (!value) {
		errno = EINVAL;
		broken(name);
	}
	return value;
}

static inline const char *in_directory(const char *directory, const char *name)
{
	static char paths[8][PATH_SIZE];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_SIZE, "%s/%s", directory, name);
	return path;
}

/*
 * Outside the work directory, this attack's own: "secret", "program", "dir" and "empty" are there.
 */
static inline const char *victim(const char *name)
{
	return in_directory(setting("REDTEAM_VICTIM"), name);
}

/* Outside the work directory, where the policy allows to read, run, map and connect. */
static inline const char *open_place(const char *name)
{
	return in_directory(setting("REDTEAM_OPEN"), name);
}

/* Where the process that plays the host has its sockets. */
static inline const char *host_place(const char *name)
{
	return in_directory(setting("REDTEAM_HOST"), name);
}

/* A process of the same user outside the execution. */
static inline pid_t host_pid(void)
{
	return atoi(setting("REDTEAM_HOST_PID"));
}

static inline uid_t attacker(void)
{
	return (uid_t)atoi(setting("REDTEAM_UID"));
}

/* As code. */
static inline int map_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		error = errno;
	close(fd);
	return error;
}

/* For somebody beside to make it, or to bring it there. */
static inline void wait_for_file(const char *path)
{
	while (access(path, F_OK) < 0)
		usleep(20000);
}

static inline int read_file(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	if (read(fd, &byte, 1) < 0)
		error = errno;
	close(fd);
	return error;
}

static inline int open_with(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static inline int write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, "x", 1) < 0)
		error = errno;
	close(fd);
	return error;
}

/* Copies a file; what stood there before is replaced. */
static inline void copy_file(const char *from, const char *to, mode_t mode)
{
	char buffer[1 << 16];
	int in = NEED(open(from, O_RDONLY | O_CLOEXEC)), out;
	ssize_t length;

	unlink(to);
	out = NEED(open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
	while ((length = NEED(read(in, buffer, sizeof(buffer)))) > 0)
		NEED(write(out, buffer, length));
	NEED(fchmod(out, mode));
	close(in);
	close(out);
}

static inline void make_file(const char *path, const char *text, mode_t mode)
{
	int fd = NEED(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));

	NEED(write(fd, text, strlen(text)));
	NEED(fchmod(fd, mode));
	close(fd);
}

static inline int exit_status(pid_t pid)
{
	int status;

	NEED(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

/* What `action` returns, in a child of its own. */
static inline int in_child(int (*action)(void))
{
	pid_t pid = NEED(fork());

	if (pid == 0)
		_exit(action());
	return exit_status(pid);
}

/* The same for what is refused by death: a SIGKILL counts as EACCES. */
static inline int in_doomed_child(int (*action)(void))
{
	pid_t pid = NEED(fork());
	int status;

	if (pid == 0)
		_exit(action());
	NEED(waitpid(pid, &status, 0));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return EACCES;
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

/* Runs a program: 0 if it ran and was content, else the errno of exec or what it ended with. */
static inline int run_program(char *const argv[])
{
	pid_t pid = NEED(fork());

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(errno);
	}
	return exit_status(pid);
}

static inline int run_path(const char *path)
{
	return run_program((char *[]){(char *)path, NULL});
}

/* The control of attacks that have no allowed counterpart: work goes on. */
static inline int use_own_file(void)
{
	int error = read_file("own");

	return error ? error : write_file("own");
}

static const struct redteam *redteam_in_context;
static volatile int redteam_result = BROKEN;

/*
 * Of a setup: what goes on beside the attack, as root. It is in another group before the setup
 * ends, with which its own group does, and ends by itself.
 */
static inline void leave_behind(void (*function)(void))
{
	pid_t child = NEED(fork());

	if (child) {
		NEED(setpgid(child, child));
		return;
	}
	alarm(900);
	close(STDOUT_FILENO);
	function();
	_exit(0);
}

static inline void *redteam_thread(void *unused)
{
	redteam_result = redteam_in_context->attack();
	return unused;
}

static inline void redteam_handler(int number)
{
	(void)number;
	redteam_result = redteam_in_context->attack();
}

static inline int redteam_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, redteam_thread, NULL))
		broken("pthread_create");
	pthread_join(thread, NULL);
	return redteam_result;
}

/* The child shares this one's memory, so that the result needs no way back. */
static inline int redteam_in_vfork(void)
{
	pid_t pid = NEED(vfork());

	if (pid == 0) {
		redteam_result = redteam_in_context->attack();
		_exit(0);
	}
	NEED(waitpid(pid, NULL, 0));
	return redteam_result;
}

static inline int redteam_in_handler(void)
{
	signal(SIGUSR2, redteam_handler);
	raise(SIGUSR2);
	return redteam_result;
}

static inline int redteam_main(int argc, char **argv, const struct redteam *redteam)
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "attack") == 0)
		return redteam->attack();
	if (strcmp(mode, "control") == 0)
		return redteam->control ? redteam->control() : use_own_file();
	redteam_in_context = redteam;
	if (strcmp(mode, "thread") == 0)
		return redteam_in_thread();
	if (strcmp(mode, "vfork") == 0)
		return redteam_in_vfork();
	if (strcmp(mode, "handler") == 0)
		return redteam_in_handler();
	if (strcmp(mode, "setup") == 0) {
		if (redteam->setup)
			redteam->setup();
		return 0;
	}
	fprintf(stderr, "usage: %s setup|attack|control\n", argv[0]);
	return BROKEN;
}

#define REDTEAM(...)                                                                               \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return redteam_main(argc, argv, &(const struct redteam){__VA_ARGS__});             \
	}

#endif
