/* SPDX-License-Identifier: Apache-2.0 */
/* What an entry of cordon.yaml names, as far as it is there. */
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

#include "adopt/lookup.h"

static char top[] = "/var/tmp/cordon-unit-lookup-XXXXXX";
static struct lookup found;
static const char *none[] = {NULL};

static const char *at(const char *name)
{
	static char path[8][256];
	static unsigned int next;
	char *made = path[next++ % 8];

	snprintf(made, sizeof(path[0]), "%s/%s", top, name);
	return made;
}

static struct config_executor an_entry(const char *executable)
{
	return (struct config_executor){
		.name = "tests",
		.line = 3,
		.executable = executable,
		.policy = "p",
		.programs = none,
		.except = none,
		.workdir_under = none,
		.volumes = none,
		.binds = none,
		.gate = none,
	};
}

static int setup(void **state)
{
	(void)state;
	strcpy(top + strlen(top) - 6, "XXXXXX");
	assert_non_null(mkdtemp(top));
	lookup_begin(&found);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	lookup_release(&found);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static bool complains(const char *text)
{
	for (size_t i = 0; i < found.problem_count; i++)
		if (strstr(found.problems[i].text, text))
			return true;
	return false;
}

/* --- names ---------------------------------------------------------------------------------- */

static void program_is(const char *executable, const char *expected, int error)
{
	const struct config_executor is = an_entry(executable);

	lookup_release(&found);
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_non_null(found.targets);
	assert_string_equal(found.targets[0], expected);
	assert_null(found.targets[1]);
	assert_int_equal(found.problem_count, error ? 1 : 0);
	if (error)
		assert_int_equal(found.problems[0].error, -error);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void make_file(const char *path)
{
	write_file(path, "\177ELF");
}

static void programs(void **state)
{
	(void)state;
	make_file(at("there"));
	assert_int_equal(symlink("there", at("link")), 0);
	assert_int_equal(symlink("gone", at("to-nothing")), 0);
	assert_int_equal(symlink(at("missing"), at("to-no-directory")), 0);
	assert_int_equal(symlink("round", at("round")), 0);
	assert_int_equal(mkdir(at("d"), 0700), 0);
	program_is(at("there"), at("there"), 0);
	program_is(at("link"), at("there"), 0);
	program_is(at("gone"), at("gone"), ENOENT);
	program_is(at("to-nothing"), at("gone"), ENOENT);
	program_is(at("to-no-directory/bin/python3"), at("missing/bin/python3"), ENOENT);
	program_is(at("d/..//./gone"), at("gone"), ENOENT);
	program_is("/../../nowhere", "/nowhere", ENOENT);
	program_is(at("there/below"), at("there/below"), ENOTDIR);
	/* Nothing can be told of it: as it is written. */
	program_is(at("round"), at("round"), ELOOP);
}

static void too_long(void **state)
{
	char name[CONFIG_PATH_MAX + 1];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	make_file(at(name + strlen(top)));
	assert_int_equal(symlink(at(name + strlen(top)), at("link")), 0);
	program_is(at("link"), at("link"), ENAMETOOLONG);
}

/* What no process runs, and what others run as well. */
static void no_programs(void **state)
{
	(void)state;
	write_file(at("script"), "#!/bin/sh\n");
	write_file(at("by-env"), "#! /usr/bin/env  sh -x\n");
	write_file(at("text"), "hello\n");
	write_file(at("empty"), "");
	/* Known by its name, and told of. */
	program_is(at("script"), at("script"), 0);
	assert_non_null(strstr(found.note, "the process is /bin/sh,"));
	assert_non_null(strstr(found.note, "arguments: \"*/script\""));
	/* env starts another program in its place. */
	program_is(at("by-env"), at("by-env"), ENOEXEC);
	assert_true(complains("the process is /usr/bin/sh;"));
	assert_true(complains("arguments: \"*/by-env\""));
	program_is(at("text"), at("text"), ENOEXEC);
	assert_true(complains("is not a program"));
	program_is(at("empty"), at("empty"), ENOEXEC);
	program_is("/tmp", "/tmp", EINVAL);
}

/* --- patterns ------------------------------------------------------------------------------- */

static void pattern_finds(const char *pattern, const char *prefix, size_t matches,
			  const char *target)
{
	const struct config_executor is = an_entry(pattern);

	lookup_release(&found);
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_int_equal(found.problem_count, 0);
	assert_string_equal(found.prefix, prefix);
	assert_int_equal(found.matches, matches);
	if (!target) {
		assert_null(found.targets);
		return;
	}
	assert_string_equal(found.targets[0], target);
	assert_null(found.targets[1]);
}

static void patterns(void **state)
{
	(void)state;
	assert_int_equal(mkdir(at("v"), 0700), 0);
	assert_int_equal(mkdir(at("v/1"), 0700), 0);
	assert_int_equal(mkdir(at("v/2"), 0700), 0);
	assert_int_equal(symlink("v", at("link")), 0);
	pattern_finds(at("v/*/tool"), at("v/"), 0, NULL);
	make_file(at("v/1/tool"));
	make_file(at("v/2/tool"));
	make_file(at("v/other"));
	pattern_finds(at("v/*/tool"), at("v/"), 2, NULL);
	pattern_finds(at("v/o*"), at("v/o"), 1, NULL);
	/* The kernel compares paths without links. */
	pattern_finds(at("link/*/tool"), at("v/"), 2, NULL);
	/* A link that is like the pattern, to what is not. */
	assert_int_equal(symlink("../other", at("v/1/tool2")), 0);
	pattern_finds(at("v/*/tool2"), at("v/"), 1, at("v/other"));
}

static void compares(void **state)
{
	(void)state;
	assert_true(name_walk_is_like("/a/*", "/a/b"));
	assert_true(name_walk_is_like("/a/*", "/a/"));
	assert_false(name_walk_is_like("/a/*", "/a/b/c"));
	assert_true(name_walk_is_like("/a/*/c", "/a/b/c"));
	assert_false(name_walk_is_like("/a/*/c", "/a/b/d/c"));
	assert_true(name_walk_is_like("/a/*1*/c*", "/a/x12/c"));
	assert_false(name_walk_is_like("/a/*1", "/a/12"));
	assert_true(name_walk_is_like("/a/*1", "/a/121"));
}

/* --- as text -------------------------------------------------------------------------------- */

static void as_text(void **state)
{
	const char *under[] = {at("d"), NULL};
	struct config_executor is = an_entry("/bin/true");
	_cleanup_(lookup_release) struct lookup other;
	_cleanup_(freep) char *before = NULL, *after = NULL, *data = NULL;
	struct parcel parcel;
	size_t size = 0;
	FILE *to = open_memstream(&data, &size);

	(void)state;
	lookup_begin(&other);
	assert_int_equal(mkdir(at("d"), 0700), 0);
	is.workdir_under = under;
	is.user = "1234";
	assert_int_equal(lookup_names(&found, &is), 0);
	before = lookup_text(&found, &is);
	assert_non_null(strstr(before, "the user 1234 is 1234\n"));
	assert_non_null(strstr(before, "the directory "));
	lookup_put(&found, to);
	assert_int_equal(fclose(to), 0);
	parcel = (struct parcel){data, size};
	assert_int_equal(lookup_take(&other, &parcel), 0);
	after = lookup_text(&other, &is);
	assert_string_equal(before, after);
	assert_string_equal(other.targets[0], found.targets[0]);
	lookup_release(&other);
	for (size_t cut = 0; cut < size; cut++) {
		parcel = (struct parcel){data, cut};
		assert_int_equal(lookup_take(&other, &parcel), -EPROTO);
		lookup_release(&other);
	}
}

static void listed(void **state)
{
	struct config_executor is = an_entry("/bin/true");
	const char *both[] = {at("there"), at("gone"), NULL};

	(void)state;
	make_file(both[0]);
	is.programs = both;
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_false(found.all_programs);
	assert_int_equal(found.problem_count, 1);
	assert_string_equal(found.programs[1], both[1]);
	assert_null(found.programs[2]);
	lookup_release(&found);
	is.programs = none;
	is.except = both;
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_true(found.all_programs);
	assert_int_equal(found.problem_count, 1);
	assert_string_equal(found.except[0], both[0]);
}

static void users(void **state)
{
	static const struct {
		const char *user;
		bool known;
		uint32_t uid;
	} cases[] = {{"root", true, 0}, {"1234", true, 1234}, {"nobodyknows", false, 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct config_executor is = an_entry("/bin/true");

		lookup_release(&found);
		is.user = cases[i].user;
		assert_int_equal(lookup_names(&found, &is), 0);
		assert_int_equal(found.has_user, cases[i].known);
		assert_int_equal(found.user, cases[i].uid);
		assert_int_equal(found.problem_count, !cases[i].known);
	}
}

/* Of what is not there, the next above it that is. */
static void cgroups(void **state)
{
	struct config_executor is = an_entry("/bin/true");
	struct stat st;

	(void)state;
	if (stat("/sys/fs/cgroup", &st) < 0)
		skip();
	is.cgroup = "/";
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_int_equal(found.problem_count, 0);
	assert_string_equal(found.cgroup, "/");
	lookup_release(&found);
	is.cgroup = "/no/such/cgroup";
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_int_equal(found.problem_count, 1);
	assert_string_equal(found.cgroup, "/");
}

static void directories(void **state)
{
	struct config_executor is = an_entry("/bin/true");
	const char *paths[] = {at("d"), at("gone"), at("planted/d"), NULL};

	(void)state;
	assert_int_equal(mkdir(paths[0], 0700), 0);
	assert_int_equal(symlink(".", at("planted")), 0);
	is.workdir_under = paths;
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_int_equal(found.problem_count, 2);
	assert_string_equal(found.under[0], paths[0]);
	assert_null(found.under[1]);
	assert_true(complains("is a symbolic link"));
}

/* --- a policy ------------------------------------------------------------------------------- */

static struct cordon_policy_header header;
static char *no_texts[] = {NULL};

static struct compiled_policy a_policy(void)
{
	static char name[] = "p", venv[] = "venv";

	header = (struct cordon_policy_header){};
	return (struct compiled_policy){
		.name = name,
		.tables = (unsigned char *)&header,
		.anchor_names = {NULL, venv},
		.environment = {.keep = no_texts},
		.limits = {.wall_nsec = 100},
	};
}

static void coverage(void **state)
{
	const struct config_executor is = an_entry("/bin/true");
	const struct compiled_policy policy = a_policy();
	static char gap[] = "a gap";
	char *gaps[] = {gap, NULL};

	(void)state;
	assert_int_equal(lookup_policy(&found, &is, &policy, gaps), 0);
	assert_int_equal(found.problem_count, 0);
	header.flags = CORDON_POLICY_FULL_COVERAGE;
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_int_equal(lookup_policy(&found, &is, &policy, no_texts), 0);
	assert_int_equal(found.problem_count, 0);
	assert_int_equal(lookup_policy(&found, &is, &policy, gaps), 0);
	assert_true(complains("full coverage"));
}

static void limits(void **state)
{
	const struct compiled_policy policy = a_policy();
	struct config_executor is = an_entry("/bin/true");

	(void)state;
	is.timeout_nsec = 50;
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_int_equal(found.limits.wall_nsec, 50);
	is.timeout_nsec = 200;
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_int_equal(found.problem_count, 1);
}

static void variables(void **state)
{
	static const struct {
		const char *keep;
		bool good;
	} cases[] = {{"PATH", true}, {"LC_*", true}, {"*_KEY", false}, {"A?", false}};
	const struct config_executor is = an_entry("/bin/true");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compiled_policy policy = a_policy();
		char *keep[] = {strdup(cases[i].keep), NULL};

		lookup_release(&found);
		policy.environment.keep = keep;
		assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
		assert_int_equal(found.problem_count, !cases[i].good);
		policy.environment.keep_all = true;
		assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
		assert_int_equal(found.problem_count, !cases[i].good);
		free(keep[0]);
	}
}

static void binds(void **state)
{
	const struct compiled_policy policy = a_policy();
	struct config_executor is = an_entry("/bin/true");
	const char *list[] = {"venv", at("d"), NULL};

	(void)state;
	is.binds = list;
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_true(complains("${venv},"));
	assert_int_equal(found.directories[1], -1);
	lookup_release(&found);
	assert_int_equal(mkdir(list[1], 0700), 0);
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_int_equal(found.problem_count, 0);
	assert_true(found.directories[1] >= 0);
	lookup_release(&found);
	list[0] = "home";
	assert_int_equal(lookup_policy(&found, &is, &policy, NULL), 0);
	assert_true(complains("has no ${home}"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(programs),	   TEST(too_long), TEST(listed),   TEST(users),	    TEST(cgroups),
		TEST(directories), TEST(coverage), TEST(limits),   TEST(variables), TEST(binds),
		TEST(no_programs), TEST(patterns), TEST(compares), TEST(as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
