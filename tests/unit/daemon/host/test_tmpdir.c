/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary directories, made and removed, whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/tmpdir.h"

#define MANY 1000000u

static char parent[] = "/dev/shm/cordon-unit-tmpdir-XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(parent + sizeof(parent) - 7, "XXXXXX");
	return mkdtemp(parent) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(parent);
}

static int make(void)
{
	struct failure failure = {};
	int fd = -1;

	assert_int_equal(tmpdir_create(parent, "t", geteuid(), getegid(), &fd, &failure), 0);
	return fd;
}

static bool exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", parent, name);
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void write_file(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void test_create(void **state)
{
	struct failure failure = {};
	struct stat made;
	int fd = make(), again;

	(void)state;
	assert_int_equal(fstat(fd, &made), 0);
	assert_int_equal(made.st_mode & 07777, 0700);
	assert_int_equal(tmpdir_create(parent, "t", 0, 0, &again, &failure), -EEXIST);
	assert_non_null(strstr(failure.text, parent));
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
	assert_false(exists("t"));
	/* Gone already is as good. */
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
}

static void test_owner(void **state)
{
	struct stat made;
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(tmpdir_create(parent, "t", 1234, 4321, &fd, NULL), 0);
	assert_int_equal(fstat(fd, &made), 0);
	assert_int_equal(made.st_uid, 1234);
	assert_int_equal(made.st_gid, 4321);
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
}

/* A descriptor for its parent, and none for itself: nothing is left. */
static void test_no_descriptor(void **state)
{
	struct rlimit limit, low;
	int next = dup(STDIN_FILENO), fd = -1;
	struct failure failure = {};

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){(rlim_t)next + 1, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(tmpdir_create(parent, "t", geteuid(), getegid(), &fd, &failure), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_false(exists("t"));
}

static void test_symlinks(void **state)
{
	int fd = make(), top = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[256];

	(void)state;
	assert_int_equal(mkdirat(top, "kept", 0700), 0);
	snprintf(path, sizeof(path), "%s/kept", parent);
	write_file(top, "kept/file");
	assert_int_equal(symlinkat(path, fd, "directory"), 0);
	assert_int_equal(symlinkat("../kept/file", fd, "file"), 0);
	assert_int_equal(symlinkat("nowhere", fd, "dangling"), 0);
	assert_int_equal(mkdirat(fd, "d", 0700), 0);
	assert_int_equal(mkdirat(fd, "d/e", 0700), 0);
	assert_int_equal(symlinkat(path, fd, "d/directory"), 0);
	assert_int_equal(symlinkat(path, fd, "d/e/directory"), 0);
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
	assert_false(exists("t"));
	assert_true(exists("kept/file"));
	/* The name itself as a symlink is not followed, either. */
	assert_int_equal(symlinkat(path, top, "t"), 0);
	assert_true(tmpdir_remove(parent, "t", MANY) < 0);
	assert_true(exists("kept/file"));
	unlinkat(top, "t", 0);
	unlinkat(top, "kept/file", 0);
	unlinkat(top, "kept", AT_REMOVEDIR);
	close(top);
}

/* Deeper than a path can name and than descriptors last. */
static void test_deep(void **state)
{
	int fd = make();

	(void)state;
	for (int i = 0; i < 5000; i++) {
		int next;

		write_file(fd, "file");
		assert_int_equal(mkdirat(fd, "a-directory", 0700), 0);
		next = openat(fd, "a-directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(fd);
		fd = next;
	}
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
	assert_false(exists("t"));
}

static void test_forbidding(void **state)
{
	int fd = make();

	(void)state;
	/*
	 * Root needs no permission; without root, nothing here is forbidden to its owner for long.
	 */
	if (geteuid() == 0) {
		assert_int_equal(mkdirat(fd, "x", 0700), 0);
		assert_int_equal(mkdirat(fd, "x/y", 0700), 0);
		write_file(fd, "x/y/f");
		assert_int_equal(fchmodat(fd, "x/y", 0, 0), 0);
		assert_int_equal(fchmodat(fd, "x", 0, 0), 0);
		assert_int_equal(fchmod(fd, 0), 0);
	}
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
}

static void test_budget(void **state)
{
	int fd = make(), calls = 0, r;
	char name[32];

	(void)state;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		write_file(fd, name);
	}
	close(fd);
	do {
		r = tmpdir_remove(parent, "t", 100);
		calls++;
	} while (r == -EAGAIN && calls < 100);
	assert_int_equal(r, 0);
	assert_in_range(calls, 5, 7);
}

/*
 * So many files, and directories that have to be moved out of the way: the processor time that
 * removing them takes.
 */
static uint64_t removal_nsec(const char *files)
{
	int fd = make(), r;
	uint64_t start;
	char name[40];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%s%d", files, i);
		write_file(fd, name);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		assert_int_equal(mkdirat(fd, name, 0700), 0);
		snprintf(name, sizeof(name), "d%d/d", i);
		assert_int_equal(mkdirat(fd, name, 0700), 0);
		snprintf(name, sizeof(name), "d%d/d/f", i);
		write_file(fd, name);
	}
	close(fd);
	start = clock_nsec(CLOCK_THREAD_CPUTIME_ID);
	do {
		r = tmpdir_remove(parent, "t", 10);
	} while (r == -EAGAIN);
	assert_int_equal(r, 0);
	assert_false(exists("t"));
	return clock_nsec(CLOCK_THREAD_CPUTIME_ID) - start;
}

/* Names that the removal itself would like to use cost no more than others. */
static void test_names_of_its_own(void **state)
{
	uint64_t others = removal_nsec("another-name-");

	(void)state;
	assert_true(removal_nsec(".cordon-removed-") < 3 * others);
}

/* Once it is being removed, its owner adds nothing to it. */
static void test_owner_is_locked_out(void **state)
{
	int fd = make();
	struct stat now;

	(void)state;
	if (geteuid() != 0)
		skip();
	write_file(fd, "a");
	write_file(fd, "b");
	assert_int_equal(fchown(fd, 1234, 4321), 0);
	assert_int_equal(fchmod(fd, 0777), 0);
	assert_int_equal(tmpdir_remove(parent, "t", 1), -EAGAIN);
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_uid, 0);
	assert_int_equal(now.st_mode & 07777, 0700);
	close(fd);
	assert_int_equal(tmpdir_remove(parent, "t", MANY), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_create, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptor, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symlinks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forbidding, setup, teardown),
		cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_owner_is_locked_out, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
