/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of the names that a program's name depends on are noticed, and others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt/name_walk.h"
#include "adopt/name_watch.h"

/* What is there is read at once; this is for what is not to come. */
#define NOTHING_MSEC 20
#define LONG_MSEC    60000

static char top[] = "/var/tmp/cordon-unit-watch-XXXXXX";
static struct name_watch watch;

static const char *at(const char *name)
{
	static char path[8][256];
	static unsigned int next;
	char *made = path[next++ % 8];

	snprintf(made, sizeof(path[0]), "%s/%s", top, name);
	return made;
}

static void touch(const char *name)
{
	FILE *made = fopen(at(name), "we");

	assert_non_null(made);
	assert_int_equal(fclose(made), 0);
}

static void move(const char *target, const char *link)
{
	assert_int_equal(symlink(target, at("fresh")), 0);
	assert_int_equal(rename(at("fresh"), at(link)), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	assert_non_null(mkdtemp(top));
	assert_int_equal(name_watch_open(&watch), 0);
	assert_int_equal(mkdir(at("versions"), 0700), 0);
	touch("versions/1");
	touch("versions/2");
	move("versions/1", "tool");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	name_watch_close(&watch);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static const char *look(const char *name)
{
	static char found[PATH_MAX];
	const struct name_visitor visitor = {name_watch_add, &watch};

	assert_int_equal(name_walk_resolve(at(name), &visitor, found), 0);
	return found;
}

static void a_link(void **state)
{
	(void)state;
	assert_string_equal(look("tool"), at("versions/1"));
	touch("other");
	touch("versions/3");
	assert_int_equal(name_watch_wait(&watch, NOTHING_MSEC), 0);
	move("versions/2", "tool");
	assert_int_equal(name_watch_wait(&watch, LONG_MSEC), 1);
	assert_string_equal(look("tool"), at("versions/2"));
	assert_int_equal(name_watch_wait(&watch, NOTHING_MSEC), 0);
	/* What it leads to is exchanged. */
	assert_int_equal(rename(at("versions/1"), at("versions/2")), 0);
	assert_int_equal(name_watch_wait(&watch, LONG_MSEC), 1);
}

static void a_directory(void **state)
{
	(void)state;
	(void)look("tool");
	assert_int_equal(rename(at("versions"), at("old")), 0);
	assert_int_equal(name_watch_wait(&watch, LONG_MSEC), 1);
	/* Nothing is there yet, and what comes is noticed. */
	assert_string_equal(look("tool"), at("versions/1"));
	while (name_watch_wait(&watch, NOTHING_MSEC) == 1)
		;
	assert_int_equal(mkdir(at("versions"), 0700), 0);
	assert_int_equal(name_watch_wait(&watch, LONG_MSEC), 1);
}

static int count(void *context, const char *path)
{
	(void)path;
	++*(int *)context;
	return 0;
}

static void a_pattern(void **state)
{
	const struct name_visitor visitor = {name_watch_add, &watch};
	int found = 0;

	(void)state;
	assert_int_equal(name_walk_match(at("versions/*"), &visitor, count, &found), 0);
	assert_int_equal(found, 2);
	touch("versions/3");
	assert_int_equal(name_watch_wait(&watch, LONG_MSEC), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {TEST(a_link), TEST(a_directory), TEST(a_pattern)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
