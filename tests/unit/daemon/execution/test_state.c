/* SPDX-License-Identifier: Apache-2.0 */
/* State files, written and read back, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/hex.h"
#include "daemon/execution/execution.h"
#include "daemon/execution/state.h"
#include "tests/unit/control/request_fixture.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

static char directory[64];
static int dir_fd;

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/cordon-unit-state-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	close(dir_fd);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* An execution as execution_prepare() leaves it, as far as its state file looks at it. */
static void make(struct execution *e, struct compiled_policy *policy, struct logs *logs)
{
	char log[96];

	memset(e, 0, sizeof(*e));
	snprintf(log, sizeof(log), "%s/log", directory);
	assert_int_equal(logs_get(logs, log, &e->log, NULL), 0);
	strcpy(e->id, "01a200b0-9a16-761b-9929-42330cf895e5");
	e->request = good_prepare();
	e->record.policy = policy;
	e->record.observe = true;
	e->record.limits.pids = 12;
	e->written = true;
	e->start = 77;
	e->owner.uid = 4294967290;
	e->unwritten[0] = 1;
	e->unwritten[1] = 3;
	e->unwritten[2] = 2;
	e->adoption.in_order = true;
	e->leader = 4321;
}

static void test_roundtrip(void **state)
{
	struct compiled_policy policy = {.name = (char[]){"p"}, .file = (char[]){"/p.yaml"}};
	static char missing[] = "cpu: no controller", path[] = "PATH";
	char *missing_list[] = {missing, NULL}, *kept[] = {path, NULL};
	struct logs *logs = NULL;
	struct execution e;
	struct state loaded;

	(void)state;
	memset(policy.digest, 0xab, sizeof(policy.digest));
	hex_encode(policy.digest, sizeof(policy.digest), policy.digest_text);
	assert_int_equal(logs_new(NULL, NULL, &logs, NULL), 0);
	make(&e, &policy, logs);
	e.record.limits_missing = missing_list;
	e.record.environment_kept = kept;
	assert_int_equal(state_save(dir_fd, &e, NULL), 0);
	/* Replaced as a whole. */
	assert_int_equal(state_save(dir_fd, &e, NULL), 0);
	assert_int_equal(state_load(dir_fd, e.id, &loaded, NULL), 0);
	assert_string_equal(loaded.policy_name, "p");
	assert_string_equal(loaded.policy_file, "/p.yaml");
	assert_memory_equal(loaded.policy_digest, policy.digest, 32);
	assert_non_null(strstr(loaded.log, "/log"));
	assert_true(loaded.started);
	assert_int_equal(loaded.start, 77);
	assert_int_equal(loaded.client_uid, 4294967290);
	assert_int_equal(loaded.unwritten[0], 1);
	assert_int_equal(loaded.unwritten[1], 3);
	assert_int_equal(loaded.unwritten[2], 2);
	assert_true(loaded.in_order);
	assert_int_equal(loaded.leader, 4321);
	assert_true(json_equal(loaded.asked, e.request));
	assert_true(loaded.request.execution.observe);
	assert_int_equal(loaded.request.execution.limits.pids, 12);
	assert_string_equal(loaded.request.execution.limits_missing[0], missing);
	assert_string_equal(loaded.request.execution.environment_kept[0], path);
	assert_null(loaded.request.execution.environment_removed[0]);
	assert_string_equal(loaded.request.execution.workdir, "/srv/work");
	assert_int_equal(loaded.request.execution.id[0], 1);
	assert_false(loaded.changing);
	state_release(&loaded);
	/* Another policy is about to replace it. */
	e.changing = &policy;
	e.changing_name = "/asked/for.yaml";
	assert_int_equal(state_save(dir_fd, &e, NULL), 0);
	assert_int_equal(state_load(dir_fd, e.id, &loaded, NULL), 0);
	assert_true(loaded.changing);
	assert_string_equal(loaded.changing_asked, "/asked/for.yaml");
	assert_string_equal(loaded.changing_name, "p");
	assert_string_equal(loaded.changing_file, "/p.yaml");
	assert_memory_equal(loaded.changing_digest, policy.digest, 32);
	state_release(&loaded);
	state_remove(dir_fd, e.id);
	assert_int_equal(state_load(dir_fd, e.id, &loaded, NULL), -ENOENT);
	json_decref(e.request);
	logs_put(e.log);
	logs_free(logs);
}

static void write_file(const char *name, const char *text)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "{}", "{\"id\":\"x\"}"};
	static const char id[] = "01a200b0-9a16-761b-9929-42330cf895e5";
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "%s.json", id);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct failure failure = {};
		struct state loaded;

		write_file(name, texts[i]);
		assert_int_equal(state_load(dir_fd, id, &loaded, &failure), -EBADMSG);
		assert_true(failure.text[0] != '\0');
	}
}

static int count(const char *id, void *context)
{
	assert_memory_equal(id, "01a200b0-9a16-761b-9929-42330cf895e", 35);
	assert_true(id[35] == '5' || id[35] == '6');
	(*(int *)context)++;
	return 0;
}

static int count_removed(const char *id, void *context)
{
	state_remove(dir_fd, id);
	return count(id, context);
}

/* A crash may leave one that was being written. */
static void test_listing(void **state)
{
	int found = 0;

	(void)state;
	write_file("01a200b0-9a16-761b-9929-42330cf895e5.json", "");
	write_file("01a200b0-9a16-761b-9929-42330cf895e6.new", "");
	write_file("01a200b0-9a16-761b-9929-42330cf895ez.json", "");
	write_file("01a200b0-9a16-761b-9929-42330cf895e5.newer", "");
	write_file("01a200b0-9a16-761b-9929-42330cf895e5", "");
	write_file("x.json", "");
	assert_int_equal(state_for_each(dir_fd, count, &found), 0);
	assert_int_equal(found, 2);
	assert_int_equal(state_for_each(dir_fd, count_removed, &found), 0);
	assert_int_equal(found, 4);
	assert_int_equal(state_for_each(dir_fd, count, &found), 0);
	assert_int_equal(found, 4);
}

/* A directory may be called anything: lists show it, and all others beside it. */
static void test_names_that_are_no_text(void **state)
{
	struct compiled_policy policy = {.name = (char[]){"p"}};
	struct cordon_execution view = {};
	struct execution e = {.view = &view, .cgroup_fd = -1, .id = "x"};
	static char workdir[] = "/srv/\xff\xfe", program[] = "/bin/\x80";
	json_t *entry;

	(void)state;
	e.record.policy = &policy;
	e.record.workdir = workdir;
	e.record.program = program;
	entry = execution_json(&e);
	assert_non_null(entry);
	assert_string_equal(json_string_value(json_object_get(entry, "workdir")),
			    "/srv/\xef\xbf\xbd\xef\xbf\xbd");
	assert_true(json_is_null(json_object_get(entry, "agent")));
	json_decref(entry);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_roundtrip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listing, setup, teardown),
		cmocka_unit_test(test_names_that_are_no_text),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
