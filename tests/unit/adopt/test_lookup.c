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
	assert_string_equal(found.program, expected);
	assert_int_equal(found.problem_count, error ? 1 : 0);
	if (error)
		assert_int_equal(found.problems[0].error, -error);
}

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	close(fd);
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
	assert_int_equal(found.cgroup, st.st_ino);
	assert_int_equal(found.cgroup_level, 0);
	lookup_release(&found);
	is.cgroup = "/no/such/cgroup";
	assert_int_equal(lookup_names(&found, &is), 0);
	assert_int_equal(found.problem_count, 1);
	assert_true(found.has_cgroup);
	assert_int_equal(found.cgroup, st.st_ino);
	assert_int_equal(found.cgroup_level, 0);
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
		TEST(programs),	   TEST(too_long), TEST(listed), TEST(users),	  TEST(cgroups),
		TEST(directories), TEST(coverage), TEST(limits), TEST(variables), TEST(binds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
