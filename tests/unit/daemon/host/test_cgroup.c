/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroups of executions, in a directory that stands for the hierarchy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/io.h"
#include "daemon/host/cgroup.h"
#include "control/protocol.h"

/*
 * A directory of ordinary files stands in for cgroup2: what is written to a file is what the
 * kernel would be told.
 */
static char mount_point[64];

static void put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", mount_point, path);
	file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static char *get(const char *path)
{
	char full[256], *text = NULL;
	size_t size;

	snprintf(full, sizeof(full), "%s/%s", mount_point, path);
	assert_int_equal(io_read_file(AT_FDCWD, full, 4096, &text, &size), 0);
	return text;
}

static void check_file(const char *path, const char *expected)
{
	char *text = get(path);

	assert_string_equal(text, expected);
	free(text);
}

static int setup(void **state)
{
	(void)state;
	strcpy(mount_point, "/tmp/cordon-unit-cgroup-XXXXXX");
	return mkdtemp(mount_point) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", mount_point);
	return system(command);
}

static void test_mount_point(void **state)
{
	static const char hybrid[] =
		"25 30 0:23 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
		"31 25 0:27 / /sys/fs/cgroup ro shared:9 - tmpfs tmpfs ro,mode=755\n"
		"32 31 0:28 / /sys/fs/cgroup/a\\040b rw shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
		"33 31 0:29 / /sys/fs/cgroup/cpu rw shared:11 - cgroup cgroup rw,cpu\n";
	static const char none[] =
		"33 31 0:29 / /sys/fs/cgroup/cpu rw shared:11 - cgroup cgroup2 rw,cpu\n"
		"34 31 0:29 / /mnt/cgroup2 rw - ext4 /dev/cgroup2 rw\n";
	char *path;

	(void)state;
	assert_int_equal(cgroup_mount_point(hybrid, &path), 0);
	assert_string_equal(path, "/sys/fs/cgroup/a b");
	free(path);
	assert_int_equal(cgroup_mount_point(none, &path), -ENOENT);
	assert_int_equal(cgroup_mount_point("", &path), -ENOENT);
	/* No optional fields. */
	assert_int_equal(cgroup_mount_point("1 2 0:3 / /cg rw - cgroup2 none rw\n", &path), 0);
	assert_string_equal(path, "/cg");
	free(path);
}

static void test_controllers(void **state)
{
	struct cgroup_tree tree;
	char path[128];

	(void)state;
	/*
	 * On: nothing to do. There but off: switched on. A name that only contains it: not there.
	 */
	put("cgroup.controllers", "cpuset io memory pids\n");
	put("cgroup.subtree_control", "memory pids\n");
	snprintf(path, sizeof(path), "%s/cordon", mount_point);
	assert_int_equal(mkdir(path, 0755), 0);
	put("cordon/cgroup.controllers", "memory\n");
	put("cordon/cgroup.subtree_control", "");
	assert_int_equal(cgroup_tree_open(mount_point, &tree, NULL), 0);
	assert_true(tree.available[CGROUP_MEMORY]);
	assert_false(tree.available[CGROUP_PIDS]);
	assert_false(tree.available[CGROUP_CPU]);
	assert_false(tree.available[CGROUP_HUGETLB]);
	check_file("cgroup.subtree_control", "memory pids\n");
	check_file("cordon/cgroup.subtree_control", "+memory");
	cgroup_tree_close(&tree);
}

static struct cgroup_tree bare_tree(void)
{
	struct cgroup_tree tree;

	put("cgroup.controllers", "\n");
	put("cgroup.subtree_control", "\n");
	assert_int_equal(cgroup_tree_open(mount_point, &tree, NULL), 0);
	return tree;
}

static void test_missing(void **state)
{
	const struct policy_limits limits = {.memory_bytes = 1, .pids = 2, .cpu_percent = 3};
	struct cgroup_tree tree = bare_tree();
	char **missing;
	int fd;

	(void)state;
	assert_int_equal(cgroup_create(&tree, "x", &limits, &fd, &missing, NULL), 0);
	assert_string_equal(missing[0], "memory: no controller");
	assert_string_equal(missing[1], "huge pages: no controller");
	assert_string_equal(missing[2], "pids: no controller");
	assert_string_equal(missing[3], "cpu: no controller");
	assert_null(missing[4]);
	protocol_strings_free(missing);
	assert_int_equal(cgroup_create(&tree, "x", &limits, &fd, &missing, NULL), -EEXIST);
	close(fd);
	assert_int_equal(cgroup_remove(&tree, "x"), 0);
	assert_int_equal(cgroup_remove(&tree, "x"), 0);
	cgroup_tree_close(&tree);
}

/* No files to write to: the refusal is passed on, and the cgroup is gone again. */
static void test_refused(void **state)
{
	const struct policy_limits limits = {.pids = 2};
	struct cgroup_tree tree = bare_tree();
	struct failure failure = {};
	char **missing;
	int fd;

	(void)state;
	tree.available[CGROUP_PIDS] = true;
	assert_int_equal(cgroup_create(&tree, "x", &limits, &fd, &missing, &failure), -ENOENT);
	assert_non_null(strstr(failure.text, "pids.max"));
	assert_int_equal(faccessat(tree.fd, "x", F_OK, 0), -1);
	cgroup_tree_close(&tree);
}

static void test_usage(void **state)
{
	struct cgroup_tree tree = bare_tree();
	struct cgroup_usage usage;
	uint64_t processes;
	int fd;

	(void)state;
	fd = tree.fd;
	cgroup_usage(fd, &usage);
	assert_false(usage.have_cpu || usage.have_memory || usage.have_pids);
	put("cordon/cpu.stat", "usage_usec 30\nuser_usec 10\nsystem_usec 20\nnr_periods 0\n");
	put("cordon/memory.peak", "123456\n");
	put("cordon/memory.events", "low 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 1\n");
	put("cordon/cgroup.events", "populated 1\nfrozen 0\n");
	put("cordon/cgroup.procs", "12\n13\n");
	cgroup_usage(fd, &usage);
	assert_true(usage.have_cpu && usage.have_memory);
	assert_false(usage.have_pids);
	assert_int_equal(usage.user_nsec, 10000);
	assert_int_equal(usage.system_nsec, 20000);
	assert_int_equal(usage.memory_peak_bytes, 123456);
	assert_int_equal(usage.oom_kills, 3);
	assert_int_equal(cgroup_populated(fd), 1);
	put("cordon/cgroup.events", "populated 0\nfrozen 0\n");
	assert_int_equal(cgroup_populated(fd), 0);
	put("cordon/cgroup.events", "nonsense\n");
	assert_int_equal(cgroup_populated(fd), -EBADMSG);
	assert_int_equal(cgroup_process_count(fd, &processes), 0);
	assert_int_equal(processes, 2);
	cgroup_tree_close(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mount_point),
		cmocka_unit_test_setup_teardown(test_controllers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_usage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
