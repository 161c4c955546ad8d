/* SPDX-License-Identifier: Apache-2.0 */
/* Of what others send, the daemon closes nothing that anybody could have it wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "daemon/peer/foreign.h"

/* More than anything takes that does not hang, and less than anybody waits. */
#define HANGS_MSEC   1000
#define LIFE_SECONDS 60

static char mounted[] = "/tmp/cordon-foreign-XXXXXX";
static int device = -1;
static pid_t server = -1;

/* --- a file system of one file, whose flush is never answered ----------------------------- */

static void reply(const struct fuse_in_header *to, const void *data, size_t size)
{
	char out[512];
	const struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + size),
					       .unique = to->unique};

	memcpy(out, &header, sizeof(header));
	memcpy(out + sizeof(header), data, size);
	if (write(device, out, header.len) < 0)
		_exit(EXIT_FAILURE);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644, .nlink = 1};
}

static void serve(const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
	const struct fuse_entry_out entry = {.nodeid = 2, .attr = attributes(2)};
	const struct fuse_attr_out attr = {.attr = attributes(in->nodeid)};
	const struct fuse_open_out opened = {.fh = 1};

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(in, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(in, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(in, &attr, sizeof(attr));
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		return reply(in, &opened, sizeof(opened));
	default:
		return;
	}
}

static _Noreturn void run_server(void)
{
	static union {
		struct fuse_in_header header;
		char bytes[65536 + 4096];
	} in;

	/* Whatever becomes of the test. */
	(void)alarm(LIFE_SECONDS);
	while (read(device, &in, sizeof(in)) > 0)
		serve(&in.header);
	_exit(EXIT_SUCCESS);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	closep(&fd);
	return written;
}

/* Users may mount a FUSE file system in a user namespace and a mount namespace of their own. */
static bool may_mount(void)
{
	char users[32], groups[32];

	if (geteuid() == 0)
		return true;
	snprintf(users, sizeof(users), "0 %u 1", geteuid());
	snprintf(groups, sizeof(groups), "0 %u 1", getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

static int setup(void **state)
{
	char options[96];

	(void)state;
	if (!may_mount()) {
		print_error("cannot make a user namespace: %s. Run this test as root.\n",
			    strerror(errno));
		return -1;
	}
	/* After the namespace, because the kernel requires the same one of device and mount. */
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0) {
		print_error(
			"cannot open /dev/fuse: %s. It takes the kernel module fuse, and read and "
			"write permission, which udev gives to all users.\n",
			strerror(errno));
		return -1;
	}
	if (!mkdtemp(mounted))
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (mount("cordon-test", mounted, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	server = fork();
	if (server == 0)
		run_server();
	return server < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	/* Whoever waits for an answer gets an error instead. */
	close(device);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return umount2(mounted, MNT_DETACH) < 0 ? -1 : rmdir(mounted);
}

static int open_file(int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", mounted);
	fd = open(path, flags | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* In a process of its own, which may not come back: nor from its end, which closes the others. */
static bool hangs_when_closed(int fd)
{
	struct pollfd told = {.events = POLLIN};
	bool hangs;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (fork() == 0) {
		/* Or the file system would not end with its server. */
		close(device);
		close(fd);
		_exit(write(ends[1], "x", 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	told.fd = ends[0];
	hangs = poll(&told, 1, HANGS_MSEC) == 0;
	close(ends[0]);
	close(ends[1]);
	return hangs;
}

/* The rule has its reason, and names what it is about. */
static void test_file_that_hangs(void **state)
{
	int plain = open_file(O_RDONLY), path = open_file(O_PATH),
	    directory = open(mounted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(directory >= 0);
	assert_false(hangs_when_closed(path));
	assert_false(hangs_when_closed(directory));
	assert_true(hangs_when_closed(plain));
	assert_true(foreign_may_hang(plain));
	assert_false(foreign_may_hang(path));
	assert_false(foreign_may_hang(directory));
	/* And so this one stays open: its server's end takes it. */
	close(path);
	close(directory);
}

static void test_others(void **state)
{
	int ends[2], pidfd = pidfd_open(getpid(), 0), memory = memfd_create("x", MFD_CLOEXEC),
		     tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_false(foreign_may_hang(pidfd));
	assert_true(foreign_may_hang(memory));
	assert_true(foreign_may_hang(tcp));
	assert_true(foreign_may_hang(ends[0]));
	close(pidfd);
	close(memory);
	close(tcp);
	close(ends[0]);
	close(ends[1]);
}

static void test_set_aside(void **state)
{
	struct protocol_fds fds = {
		.fd = {open("/", O_PATH | O_CLOEXEC), memfd_create("x", MFD_CLOEXEC),
		       pidfd_open(getpid(), 0), memfd_create("y", MFD_CLOEXEC)},
		.count = 4,
	};
	const int aside[] = {fds.fd[1], fds.fd[3]}, left[] = {fds.fd[0], fds.fd[2]};

	(void)state;
	assert_int_equal(foreign_set_aside(&fds), 2);
	assert_int_equal(fds.count, 2);
	assert_memory_equal(fds.fd, left, sizeof(left));
	assert_int_equal(foreign_set_aside(&fds), 0);
	protocol_fds_close(&fds);
	for (size_t i = 0; i < ARRAY_SIZE(aside); i++) {
		assert_true(fcntl(left[i], F_GETFD) < 0);
		assert_true(fcntl(aside[i], F_GETFD) >= 0);
		close(aside[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file_that_hangs, setup, teardown),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_set_aside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
