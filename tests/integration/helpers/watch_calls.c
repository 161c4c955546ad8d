/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a daemon under a supervisor of its system calls (seccomp_unotify(2)).
 *
 *   watch_calls --paths REPORT -- COMMAND...
 *     A path that the main thread asks a file system for, and that may lie where nothing answers,
 *     is written to REPORT, a line each: CALL PATH.
 *   watch_calls --fail FILE -- COMMAND...
 *     While FILE holds "CALL N ERRNO", the N-th CALL of the main thread from then on fails; FILE is
 *     removed when it has.
 *
 * The command keeps this process's number. What it forks is not looked at: a worker may wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which argument is the directory, and which the path; -1: none. */
static const struct call {
	long number;
	const char *name;
	int directory, path;
} calls[] = {
	{SYS_openat, "openat", 0, 1},
	{SYS_openat2, "openat2", 0, 1},
	{SYS_statx, "statx", 0, 1},
	{SYS_newfstatat, "newfstatat", 0, 1},
	{SYS_faccessat, "faccessat", 0, 1},
	{SYS_faccessat2, "faccessat2", 0, 1},
	{SYS_readlinkat, "readlinkat", 0, 1},
	{SYS_mkdirat, "mkdirat", 0, 1},
	{SYS_unlinkat, "unlinkat", 0, 1},
	{SYS_renameat2, "renameat2", 0, 1},
	{SYS_statfs, "statfs", -1, 0},
	{SYS_chdir, "chdir", -1, 0},
	{SYS_truncate, "truncate", -1, 0},
#ifdef SYS_open
	{SYS_open, "open", -1, 0},
	{SYS_stat, "stat", -1, 0},
	{SYS_lstat, "lstat", -1, 0},
	{SYS_access, "access", -1, 0},
	{SYS_readlink, "readlink", -1, 0},
	{SYS_mkdir, "mkdir", -1, 0},
	{SYS_rmdir, "rmdir", -1, 0},
	{SYS_unlink, "unlink", -1, 0},
	{SYS_rename, "rename", -1, 0},
	{SYS_creat, "creat", -1, 0},
#endif
	{SYS_clone, "clone", -1, -1},
	{SYS_clone3, "clone", -1, -1},
	{SYS_pidfd_open, "pidfd_open", -1, -1},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/*
 * Root's own directories, of the host itself: where they do not answer, nothing on the host does.
 * All else is asked for by a worker.
 */
static const char *const own[] = {
	"/proc", "/sys", "/run/cordon", "/etc",	  "/tmp", "/var/lib/cordon", "/var/lib/cordon-ship",
	"/dev",	 "/usr", "/lib",	"/lib64", NULL,
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "watch_calls: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int install(void)
{
	struct sock_filter filter[CALLS + 3];
	size_t n = 0;
	struct sock_fprog program = {.filter = filter};
	int fd;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < CALLS; i++)
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)calls[i].number,
							   (uint8_t)(CALLS - i), 0);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			  &program);
	if (fd < 0)
		die("seccomp");
	return fd;
}

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(char[]){"x"}, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.space)};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) < 0)
		die("sendmsg");
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.space)};
	int fd = -1;

	if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* --- what was asked for --------------------------------------------------------------------- */

static bool read_memory(pid_t pid, uint64_t at, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)at, size};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool read_text(pid_t pid, uint64_t at, char text[PATH_MAX])
{
	size_t length = 0;

	while (length < PATH_MAX - 1) {
		/* Not beyond a page, which may be the last. */
		size_t most = 4096 - (at + length) % 4096;

		if (most > PATH_MAX - 1 - length)
			most = PATH_MAX - 1 - length;
		if (!read_memory(pid, at + length, text + length, most))
			return false;
		if (memchr(text + length, '\0', most))
			return true;
		length += most;
	}
	text[PATH_MAX - 1] = '\0';
	return true;
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

/* These ask the kernel's caches alone: RESOLVE_CACHED, AT_STATX_DONT_SYNC. */
static bool is_cached(pid_t pid, const struct call *call, const struct seccomp_data *data)
{
	struct open_how how = {};

	if (call->number == SYS_openat2)
		return read_memory(pid, data->args[2], &how, sizeof(how)) &&
		       (how.resolve & RESOLVE_CACHED);
	if (call->number == SYS_statx)
		return data->args[2] & AT_STATX_DONT_SYNC;
	return false;
}

static bool is_harmless(pid_t pid, const struct call *call, const struct seccomp_data *data,
			char path[2 * PATH_MAX])
{
	char text[PATH_MAX] = "", link[64], directory[PATH_MAX] = "";
	ssize_t n;

	if (call->path < 0 || is_cached(pid, call, data))
		return true;
	if (!read_text(pid, data->args[call->path], text))
		return true; /* EFAULT */
	if (text[0] != '/' && call->directory >= 0 &&
	    (int)data->args[call->directory] != AT_FDCWD) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid,
			 (int)data->args[call->directory]);
		n = readlink(link, directory, sizeof(directory) - 1);
		directory[n > 0 ? n : 0] = '\0';
		/* A file descriptor by itself asks for no path. */
		if (!text[0])
			return true;
	}
	snprintf(path, 2 * PATH_MAX, "%s%s%s", directory, directory[0] ? "/" : "", text);
	for (size_t i = 0; own[i]; i++)
		if (is_below(path, own[i]))
			return true;
	return strcmp(path, "/") == 0;
}

static void report(const char *file, const struct call *call, const char *path)
{
	char line[2 * PATH_MAX + 64];
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int length = snprintf(line, sizeof(line), "%s %s\n", call->name, path);

	if (fd < 0 || write(fd, line, (size_t)length) != length)
		die(file);
	close(fd);
}

/* What is to fail next: 0, or a positive errno. */
static int failure_of(const char *file, const struct call *call)
{
	static unsigned int seen;
	static char armed[64];
	char text[64] = "", name[32];
	unsigned int nth;
	int error, fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || sscanf(text, "%31s %u %d", name, &nth, &error) != 3)
		return 0;
	if (strcmp(armed, text) != 0) {
		strcpy(armed, text);
		seen = 0;
	}
	if (strcmp(name, call->name) != 0 || ++seen != nth)
		return 0;
	armed[0] = '\0';
	unlink(file);
	return error;
}

static const struct call *call_of(int number)
{
	for (size_t i = 0; i < CALLS; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

static void supervise(int listener, pid_t command, const char *paths, const char *fail)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp response;

	for (;;) {
		struct pollfd ready = {.fd = listener, .events = POLLIN};
		char path[2 * PATH_MAX] = "";
		const struct call *call;
		int error = 0;

		/* Nobody has the filter any more. */
		if (poll(&ready, 1, -1) > 0 && (ready.revents & (POLLHUP | POLLERR)))
			exit(EXIT_SUCCESS);

		memset(&request, 0, sizeof(request));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			exit(EXIT_FAILURE);
		}
		call = call_of(request.data.nr);
		if (call && (pid_t)request.pid == command) {
			if (paths && !is_harmless(command, call, &request.data, path))
				report(paths, call, path);
			error = fail ? failure_of(fail, call) : 0;
		}
		memset(&response, 0, sizeof(response));
		response.id = request.id;
		if (error)
			response.error = -error;
		else
			response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

int main(int argc, char **argv)
{
	const char *paths = NULL, *fail = NULL;
	pid_t command = getpid(), helper;
	int ends[2], listener;

	if (argc < 5 || strcmp(argv[3], "--") != 0)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "--paths") == 0)
		paths = argv[2];
	else
		fail = argv[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		die("socketpair");
	/* Twice: it belongs to init, and nobody waits for it. */
	helper = fork();
	if (helper < 0)
		die("fork");
	if (helper == 0) {
		if (fork() != 0)
			_exit(EXIT_SUCCESS);
		(void)setsid();
		close(ends[1]);
		prctl(PR_SET_NAME, "watch_calls");
		listener = receive_fd(ends[0]);
		if (listener < 0)
			_exit(EXIT_FAILURE);
		supervise(listener, command, paths, fail);
	}
	waitpid(helper, NULL, 0);
	close(ends[0]);
	listener = install();
	send_fd(ends[1], listener);
	close(listener);
	close(ends[1]);
	execvp(argv[4], argv + 4);
	die(argv[4]);
}
