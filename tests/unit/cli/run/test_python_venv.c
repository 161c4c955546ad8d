/* SPDX-License-Identifier: Apache-2.0 */
/* Where a Python has its modules. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/run/python_venv.h"
#include "launch/program_path.h"

static char top[] = "/tmp/cordon-python-XXXXXX";

/* Below `top`, with the directories on the way. */
static void make(const char *name, const char *leads_to, mode_t mode)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	for (char *at = path + sizeof(top); (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	if (leads_to) {
		assert_int_equal(symlink(leads_to, path), 0);
		return;
	}
	fd = creat(path, mode);
	assert_true(fd >= 0);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	make("versions/3.12/bin/python3.12", NULL, 0755);
	make("versions/3.12/bin/python3", "python3.12", 0);
	make("envs/a/pyvenv.cfg", NULL, 0644);
	make("envs/a/bin/python3", "../../../versions/3.12/bin/python3", 0);
	make("envs/a/bin/pytest", NULL, 0755);
	make("job/.venv/pyvenv.cfg", NULL, 0644);
	make("job/.venv/bin/python3", "../../../versions/3.12/bin/python3", 0);
	make("system/pyvenv.cfg", NULL, 0644);
	make("system/bin/python3", "/usr/bin/python3", 0);
	make("job/bin/python3", "../../versions/3.12/bin/python3", 0);
	make("job/own/bin/python3", NULL, 0755);
	make("shims/python3", NULL, 0755);
	make("first/python3", NULL, 0644);
	make("second/python3/x", NULL, 0755);
	make("tools/bin/ruff", NULL, 0755);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

/* `program` and `directory` below `top`, unless the program is relative; `bin` is first in PATH. */
static void check(const char *program, const char *bin, const char *directory)
{
	char asked[256], search[256], workdir[64], wanted[256];
	char *found = NULL;

	snprintf(asked, sizeof(asked), "%s%s", program[0] == '/' ? top : "", program);
	snprintf(search, sizeof(search), "%s/%s:/usr/bin", top, bin ? bin : "");
	snprintf(workdir, sizeof(workdir), "%s/job", top);
	assert_int_equal(python_venv_find(asked, bin ? search : NULL, workdir, &found), 0);
	snprintf(wanted, sizeof(wanted), "%s/%s", top, directory ? directory : "");
	assert_string_equal(found ? found : "none", directory ? wanted : "none");
	free(found);
}

static void test_installations(void **state)
{
	(void)state;
	check("/versions/3.12/bin/python3", NULL, "versions/3.12");
	check("python3", "versions/3.12/bin", "versions/3.12");
	check("python3.12", "versions/3.12/bin", "versions/3.12");
}

static void test_environments(void **state)
{
	(void)state;
	check("/envs/a/bin/python3", NULL, "envs/a");
	check("pytest", "envs/a/bin", "envs/a");
	check("/system/bin/python3", NULL, "system");
}

static void test_others(void **state)
{
	(void)state;
	/* What a shim would choose is not known. */
	check("python3", "shims", NULL);
	/* What lies in the work directory may have been planted there. */
	check(".venv/bin/python3", NULL, NULL);
	check("/job/.venv/bin/python3", NULL, NULL);
	check("../job/.venv/bin/python3", NULL, NULL);
	check("/job/bin/python3", NULL, NULL);
	check("/job/own/bin/python3", NULL, NULL);
	check("ruff", "tools/bin", NULL);
	check("/tools/bin/ruff", NULL, NULL);
	check("/tools/bin/python3", NULL, NULL);
	check("nowhere", "tools/bin", NULL);
	check("python3", NULL, NULL);
	check("", NULL, NULL);
	check("/", NULL, NULL);
}

static void test_program_path(void **state)
{
	char path[512], room[256];
	const char *found;

	(void)state;
	/* Neither what may not be executed, nor a directory. */
	snprintf(path, sizeof(path), "/nowhere:%s/first:%s/second:%s/shims:/usr/bin", top, top,
		 top);
	found = program_path_find("python3", path, room, sizeof(room));
	assert_non_null(found);
	assert_string_equal(found + strlen(top), "/shims/python3");
	assert_null(program_path_find("python3", NULL, room, sizeof(room)));
	assert_null(program_path_find("bin/python3", path, room, sizeof(room)));
	assert_null(program_path_find("no-such", path, room, sizeof(room)));
	assert_null(program_path_find("python3", ":/usr/bin", room, sizeof(room)));
	assert_null(program_path_find("python3", path, room, sizeof(top) + 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_installations),
		cmocka_unit_test(test_environments),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_program_path),
	};

	return cmocka_run_group_tests_name("python_venv", tests, set_up, tear_down);
}
