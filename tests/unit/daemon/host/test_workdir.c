/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that may become a work directory, and those that may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/workdir.h"

static char top[64], passwd[96];

static int setup(void **state)
{
	FILE *file;
	char path[128];

	(void)state;
	strcpy(top, "/var/tmp/cordon-unit-workdir-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	snprintf(passwd, sizeof(passwd), "%s/passwd", top);
	file = fopen(passwd, "we");
	fprintf(file,
		"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n"
		"a:x:1000:1000::%s/homes/a:/bin/sh\n",
		top);
	fclose(file);
	for (const char *const *name = (const char *const[]){"homes", "homes/a", "homes/a/project",
							     "own", "own/log", "free", NULL};
	     *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", top, *name);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static size_t cached;

static int check(const char *path, struct failure *failure)
{
	char full[160], own[128];
	struct failure other = {};
	int fd, r, from_caches;

	if (path[0] == '/')
		snprintf(full, sizeof(full), "%s", path);
	else
		snprintf(full, sizeof(full), "%s/%s", top, path);
	snprintf(own, sizeof(own), "%s/own", top);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	failure->text[0] = '\0';
	r = workdir_check(fd, false, passwd, (const char *const[]){own, NULL}, failure);
	/* These lookups are cached by now, except on file systems that cache none. */
	from_caches = workdir_check(fd, true, passwd, (const char *const[]){own, NULL}, &other);
	if (from_caches != -EAGAIN) {
		assert_int_equal(from_caches, r);
		assert_string_equal(other.text, failure->text);
		cached++;
	}
	close(fd);
	return r;
}

static void test_refused(void **state)
{
	static const struct {
		const char *path;
		int error;
		const char *says;
	} cases[] = {
		{"/", -EPERM, "system directory"},
		{"/etc", -EPERM, "/etc"},
		{"/usr", -EPERM, "/usr"},
		{"/usr/lib", -EPERM, "/usr/lib"},
		{"/var", -EPERM, "system directory"},
		{"/tmp", -EPERM, "/tmp"},
		{"/proc/self", -EPERM, "lies in the system directory /proc"},
		{"/sys/kernel", -EPERM, "/sys"},
		{"homes", -EPERM, "home directory"},
		{"homes/a", -EPERM, "home directory"},
		{".", -EPERM, "home directory"},
		{"own", -EPERM, "cordon's own"},
		{"own/log", -EPERM, "cordon's own"},
		{"passwd", -ENOTDIR, "not a directory"},
	};
	struct failure failure;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(check(cases[i].path, &failure), cases[i].error);
		/* A parent of the own directory is refused for the first reason found. */
		if (strcmp(cases[i].path, ".") != 0)
			assert_non_null(strstr(failure.text, cases[i].says));
	}
}

static void test_allowed(void **state)
{
	struct failure failure;

	(void)state;
	assert_int_equal(check("free", &failure), 0);
	assert_int_equal(check("homes/a/project", &failure), 0);
}

/* A symlink to a home directory is that home directory: identity counts, not the name. */
static void test_symlink(void **state)
{
	char link[128], target[128];
	struct failure failure;

	(void)state;
	snprintf(link, sizeof(link), "%s/link", top);
	snprintf(target, sizeof(target), "%s/homes/a", top);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(check("link", &failure), -EPERM);
}

static int check_depth(int depth, uint64_t *ret_nsec)
{
	struct failure failure = {};
	char path[128], own[128];
	uint64_t start;
	int fd, r;

	snprintf(path, sizeof(path), "%s/free", top);
	snprintf(own, sizeof(own), "%s/own", top);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < depth; i++) {
		int next;

		(void)mkdirat(fd, "d", 0700);
		next = openat(fd, "d", O_RDONLY | O_CLOEXEC);
		assert_true(next >= 0);
		close(fd);
		fd = next;
	}
	start = clock_nsec(CLOCK_THREAD_CPUTIME_ID);
	r = workdir_check(fd, false, passwd, (const char *const[]){own, NULL}, &failure);
	*ret_nsec = clock_nsec(CLOCK_THREAD_CPUTIME_ID) - start;
	close(fd);
	return r;
}

static void test_cached(void **state)
{
	(void)state;
	assert_int_not_equal(cached, 0);
}

/* Four times as deep costs about four times as much. */
static void test_deep(void **state)
{
	uint64_t shallow, deep;

	(void)state;
	assert_int_equal(check_depth(300, &shallow), 0);
	assert_int_equal(check_depth(1200, &deep), 0);
	assert_true(deep < 9 * shallow);
	/* Too deep to be climbed out of. */
	assert_int_equal(check_depth(3000, &deep), -EPERM);
}

/* Homes are named in any way. */
static void test_names_of_homes(void **state)
{
	static const char *const names[] = {"homes/a/", "link/a", "/homes/./a", "own/../homes/a"};
	struct failure failure;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/link", top);
	assert_int_equal(symlink("homes", path), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		FILE *file = fopen(passwd, "we");

		fprintf(file, "a:x:1000:1000::%s/%s:/bin/sh\n", top, names[i]);
		fclose(file);
		assert_int_equal(check("homes/a", &failure), -EPERM);
		assert_int_equal(check("homes", &failure), -EPERM);
		assert_int_equal(check("free", &failure), 0);
	}
}

static void write_homes(const char *first, const char *second)
{
	FILE *file = fopen(passwd, "we");

	fprintf(file, "a:x:1000:1000::%s/%s:/bin/sh\n", top, first);
	if (second)
		fprintf(file, "b:x:1001:1001::%s/%s:/bin/sh\n", top, second);
	fclose(file);
}

/*
 * One directory in two places has two ways up: that nothing was found on the one says nothing about
 * the other.
 */
static void test_mounted_twice(void **state)
{
	char from[128], to[128], link[128];
	struct failure failure;

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	snprintf(from, sizeof(from), "%s/homes/a/project", top);
	snprintf(to, sizeof(to), "%s/free/mounted", top);
	snprintf(link, sizeof(link), "%s/link", top);
	assert_int_equal(mkdir(to, 0700), 0);
	assert_int_equal(symlink("free/mounted", link), 0);
	assert_int_equal(mount(from, to, NULL, MS_BIND, NULL), 0);
	write_homes("homes/a/project", NULL);
	assert_int_equal(check("free", &failure), 0);
	for (int links = 0; links < 2; links++) {
		write_homes("homes/a/project", links ? "link" : "free/mounted");
		assert_int_equal(check("free", &failure), -EPERM);
		assert_non_null(strstr(failure.text, "home directory"));
	}
	write_homes("link", "homes/a/project");
	assert_int_equal(check("homes", &failure), -EPERM);
	assert_int_equal(umount2(to, MNT_DETACH), 0);
}

/* More homes than are remembered: the last one counts like the first. */
static void test_many_homes(void **state)
{
	struct failure failure;
	FILE *file = fopen(passwd, "we");
	char path[128];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "%s/homes/%d", top, i);
		assert_int_equal(mkdir(path, 0700), 0);
		fprintf(file, "u:x:1000:1000::%s:/bin/sh\nv:x:1:1::%s/none:/bin/sh\n", path, path);
	}
	fclose(file);
	assert_int_equal(check("free", &failure), 0);
	assert_int_equal(check("homes/299", &failure), -EPERM);
	assert_int_equal(check("homes/0", &failure), -EPERM);
	assert_int_equal(check("homes", &failure), -EPERM);
	assert_int_equal(check("homes/a", &failure), 0);
}

static void test_no_passwd(void **state)
{
	struct failure failure = {};
	int fd = open(top, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(workdir_check(fd, false, "/nonexistent/passwd",
				       (const char *const[]){NULL}, &failure),
			 -ENOENT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_allowed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_symlink, setup, teardown),
		cmocka_unit_test(test_cached),
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_of_homes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mounted_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_homes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_passwd, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
