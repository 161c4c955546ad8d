/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watcher that somebody has taken over can still do. Each thing is tried before, where it
 * works, and after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "watch/confine.h"

static char directory[] = "/tmp/cordon-confine-XXXXXX";
static int directory_fd = -1;

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	directory_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return directory_fd < 0 ? -1 : 0;
}

static int remove_directory(void **state)
{
	(void)state;
	close(directory_fd);
	return rmdir(directory);
}

/* Each returns 0 or a negative errno, and leaves nothing. */

static int close_or_fail(int fd)
{
	return fd < 0 ? -errno : close(fd);
}

static int write_textfile(void)
{
	int r = close_or_fail(openat(directory_fd, "a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));

	if (r == 0 && renameat(directory_fd, "a", directory_fd, "b") < 0)
		r = -errno;
	if (r == 0 && unlinkat(directory_fd, "b", 0) < 0)
		r = -errno;
	return r;
}

static int make_unix_socket(void)
{
	return close_or_fail(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

static int read_file(void)
{
	return close_or_fail(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int read_textfile_directory(void)
{
	return close_or_fail(openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int write_elsewhere(void)
{
	int r = close_or_fail(
		open("/tmp/cordon-confine-escaped", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));

	if (r == 0)
		(void)unlink("/tmp/cordon-confine-escaped");
	return r;
}

static int make_internet_socket(void)
{
	return close_or_fail(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int make_netlink_socket(void)
{
	return close_or_fail(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
}

static int make_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? -errno : munmap(page, 4096);
}

static int start_process(void)
{
	pid_t pid = (pid_t)syscall(SYS_fork);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : waitpid(pid, NULL, 0) == pid ? 0 : -errno;
}

static int run_program(void)
{
	char *const argv[] = {NULL};

	/* What is not there is only looked for by whoever may. */
	return execve("/nonexistent", argv, argv) < 0 && errno == ENOENT ? 0 : -errno;
}

static int change_mode(void)
{
	return chmod(directory, 0700) < 0 ? -errno : 0;
}

static const struct attempt {
	const char *what;
	int (*try)(void);
	bool stays;
	bool by_landlock;
} attempts[] = {
	{"write the textfile", write_textfile, true, false},
	{"make a unix socket", make_unix_socket, true, false},
	{"read a file", read_file, false, true},
	{"list the textfile's directory", read_textfile_directory, false, true},
	{"write elsewhere", write_elsewhere, false, true},
	{"make an internet socket", make_internet_socket, false, false},
	{"make a netlink socket", make_netlink_socket, false, false},
	{"make memory that is code", make_code, false, false},
	{"start a process", start_process, false, false},
	{"run a program", run_program, false, false},
	{"change a mode by a path", change_mode, false, false},
};

static bool have_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* In a process of its own: 0, or 1 + the number of the first that is not as it should be. */
static int try_all(bool confined, bool landlock)
{
	const struct confine confine = {.directory_fd = directory_fd, .socket_directory_fd = -1};

	if (confined && confine_enter(&confine, NULL) < 0)
		return 255;
	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		const struct attempt *attempt = &attempts[i];
		bool wanted = !confined || attempt->stays || (attempt->by_landlock && !landlock);

		if ((attempt->try() == 0) != wanted)
			return (int)i + 1;
	}
	return 0;
}

static void assert_tried(bool confined)
{
	bool landlock = have_landlock();
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	/* What _exit(2) is under a sanitizer takes calls that are gone by then. */
	if (pid == 0)
		(void)syscall(SYS_exit_group, try_all(confined, landlock));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	status = WEXITSTATUS(status);
	assert_int_not_equal(status, 255);
	if (status > 0)
		fail_msg("%s: not as it should be %s", attempts[status - 1].what,
			 confined ? "after" : "before");
	if (confined && !landlock)
		print_message("this kernel has no Landlock: files are not looked at\n");
}

static void test_before(void **state)
{
	(void)state;
	assert_tried(false);
}

static void test_after(void **state)
{
	(void)state;
	assert_tried(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_after),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
