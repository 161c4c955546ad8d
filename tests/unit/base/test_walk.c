/* SPDX-License-Identifier: Apache-2.0 */
/* No link that agent code may have put there leads a walk anywhere. */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/walk.h"

/* What lies in it: real/sub, and links to it. */
static char place[] = "/tmp/cordon-walk-XXXXXX";

static const char *at(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static void expect_path(const char *path, const char *wanted)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *found = NULL;
	struct failure failure = {};

	assert_int_equal(walk_directory(AT_FDCWD, path, "it", &fd, &failure), 0);
	assert_int_equal(walk_path_of(fd, &found), 0);
	assert_string_equal(found, wanted);
}

static void expect_error(const char *path, int error, const char *words)
{
	struct failure failure = {};
	int fd = -1;

	assert_int_equal(walk_directory(AT_FDCWD, path, "it", &fd, &failure), error);
	assert_int_equal(fd, -1);
	if (words)
		assert_non_null(strstr(failure.text, words));
	else
		assert_string_equal(failure.text, "");
}

static void test_directories(void **state)
{
	char sub[256], round[256];

	(void)state;
	snprintf(sub, sizeof(sub), "%s/real/sub", place);
	expect_path(sub, sub);
	snprintf(round, sizeof(round), "%s//real/./sub/../sub//", place);
	expect_path(round, sub);
	expect_path("/", "/");
	expect_path("/..", "/");
	expect_error("", -ENOENT, NULL);
	expect_error(at("nowhere/sub"), -ENOENT, NULL);
	expect_error(at("file"), -ENOTDIR, NULL);
	expect_error(at("file/sub"), -ENOTDIR, NULL);
}

static void test_relative(void **state)
{
	_cleanup_(closep) int from = open(at("real"), O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	_cleanup_(freep) char *found = NULL;

	(void)state;
	assert_int_equal(walk_directory(from, "sub", "it", &fd, NULL), 0);
	assert_int_equal(walk_path_of(fd, &found), 0);
	assert_string_equal(found, at("real/sub"));
}

/*
 * Root made them, in directories that root alone may write to: as agent code that runs as root
 * does.
 */
static void test_links(void **state)
{
	(void)state;
	expect_error(at("link"), -ELOOP, "is a symbolic link to 'real'; name the directory itself");
	expect_error(at("link/"), -ELOOP, "is a symbolic link to 'real'");
	expect_error(at("link/sub"), -ELOOP, "link, which is a symbolic link to 'real'");
	expect_error(at("outside/cordon"), -ELOOP, "which is a symbolic link to '/etc'");
	expect_error(at("loop/x"), -ELOOP, "loop");
	expect_error(at("dangling"), -ELOOP, "dangling");
	/* Back through what is real. */
	expect_error(at("link/../real"), -ELOOP, "link");
	expect_error("/proc/self/cwd", -ELOOP, "/proc/self");
	expect_error("/proc/thread-self/root/etc", -ELOOP, "thread-self");
}

static void test_system_links(void **state)
{
	char real[4096];
	struct stat st;

	(void)state;
	/* Each of them is a link on Debian, in a directory of root's. */
	if (lstat("/var/run", &st) == 0 && S_ISLNK(st.st_mode))
		expect_path("/var/run", realpath("/var/run", real));
	if (lstat("/lib", &st) == 0 && S_ISLNK(st.st_mode))
		expect_path("/lib/../lib", realpath("/lib", real));
	assert_int_equal(stat("/", &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
}

static void test_parents(void **state)
{
	struct failure failure = {};
	const char *name = NULL;
	int fd = -1;

	(void)state;
	assert_int_equal(walk_parent(AT_FDCWD, at("real/new"), "it", &fd, &name, &failure), 0);
	assert_string_equal(name, "new");
	close(fd);
	assert_int_equal(walk_parent(AT_FDCWD, "new", "it", &fd, &name, &failure), 0);
	assert_string_equal(name, "new");
	close(fd);
	assert_int_equal(walk_parent(AT_FDCWD, at("real/"), "it", &fd, &name, &failure), -EISDIR);
	assert_int_equal(walk_parent(AT_FDCWD, at("link/new"), "it", &fd, &name, &failure), -ELOOP);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(place) || mkdir(at("real"), 0755) < 0 || mkdir(at("real/sub"), 0755) < 0)
		return -1;
	close(open(at("file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	return symlink("real", at("link")) | symlink("/etc", at("outside")) |
	       symlink("loop", at("loop")) | symlink("nowhere", at("dangling"));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directories), cmocka_unit_test(test_relative),
		cmocka_unit_test(test_links),	    cmocka_unit_test(test_system_links),
		cmocka_unit_test(test_parents),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
