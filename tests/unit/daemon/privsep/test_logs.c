/* SPDX-License-Identifier: Apache-2.0 */
/* Logs opened once for all, and closed with the last who use them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "audit/read/reader.h"
#include "audit/record/record.h"
#include "audit/storage/segment.h"
#include "base/io.h"
#include "daemon/privsep/errand.h"
#include "daemon/privsep/logs.h"
#include "policy/compile/compile.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

static char directory[] = "/tmp/cordon-logs-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static struct logs *new_logs(void)
{
	struct logs *logs = NULL;

	assert_int_equal(logs_new(NULL, NULL, &logs, NULL), 0);
	return logs;
}

static void append(struct log_use *log, const char *action)
{
	assert_int_equal(logs_append(log, audit_record_agent(action, NULL, 1)), 0);
}

/* The log's only file of records. */
static int open_file(int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, SEGMENT_NAME);
	fd = open(path, flags | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void test_shared(void **state)
{
	struct log_use *first, *second;
	struct logs *logs = new_logs();
	char alias[128];

	(void)state;
	snprintf(alias, sizeof(alias), "%s/../%s", directory, directory + strlen("/tmp/"));
	assert_int_equal(logs_get(logs, directory, &first, NULL), 0);
	assert_int_equal(logs_get(logs, alias, &second, NULL), 0);
	assert_ptr_equal(first, second);
	logs_put(first);
	append(second, "start");
	assert_true(logs_flush_all(logs, true));
	assert_false(logs_flush_all(logs, true));
	logs_put(second);
	logs_free(logs);
}

/* What a crash tore off is a record of the log itself. */
static void test_torn(void **state)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct log_use *log;
	struct logs *logs = new_logs();
	json_int_t torn = 0;
	json_t *record;
	int fd;

	(void)state;
	fd = open_file(O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"seq\":", 7), 7);
	close(fd);
	assert_int_equal(logs_get(logs, directory, &log, NULL), 0);
	assert_true(logs_flush_all(logs, true));
	logs_put(log);
	assert_int_equal(logs_get(logs, directory, &log, NULL), 0);
	assert_false(logs_flush_all(logs, true));
	logs_put(log);
	logs_free(logs);

	assert_int_equal(audit_reader_open(directory, &reader, NULL), 0);
	while (audit_reader_next(reader, &record, NULL) == 0) {
		const char *action = json_string_value(
			json_object_get(json_object_get(record, "event"), "action"));
		const json_t *agent = json_object_get(json_object_get(record, "cordon"), "agent");

		if (strcmp(action, "agent-recover") == 0)
			torn += json_integer_value(json_object_get(agent, "torn_bytes"));
		json_decref(record);
	}
	assert_int_equal(torn, 7);
}

static json_int_t figure(const struct log_use *log, const char *name)
{
	json_t *figures = logs_figures_json(log);
	const json_t *value = json_object_get(figures, name);
	json_int_t number;

	assert_non_null(value);
	number = json_is_null(value)	  ? -1
		 : json_is_boolean(value) ? json_is_true(value)
					  : json_integer_value(value);
	json_decref(figures);
	return number;
}

static void test_figures(void **state)
{
	struct logs *logs = new_logs();
	json_int_t records, written;
	struct failure failure = {};
	struct log_use *log;

	(void)state;
	assert_int_equal(logs_get(logs, directory, &log, NULL), 0);
	assert_int_equal(figure(log, "free_bytes"), -1);
	assert_int_equal(logs_writable(log, &failure), 0);
	assert_true(figure(log, "free_bytes") > 0);
	records = figure(log, "records");
	written = figure(log, "written_bytes");
	append(log, "one");
	append(log, "two");
	assert_int_equal(figure(log, "records"), records);
	assert_true(logs_flush_all(logs, true));
	assert_int_equal(figure(log, "records"), records + 2);
	/* Each has its chain value, of 64 digits, at least. */
	assert_true(figure(log, "written_bytes") > written + 2 * 64);
	assert_int_equal(figure(log, "failing"), 0);
	assert_int_equal(figure(log, "sealing"), 0);
	assert_int_equal(figure(log, "sealed"), 0);
	assert_int_equal(figure(log, "seal_age_nsec"), -1);
	logs_put(log);
	logs_free(logs);
}

/* Appends until three segments would be too many, with a shipper's state or without. Are they? */
static bool segment_is_deleted(const char *state)
{
	const struct logs_options options = {
		.log = {.segment_bytes = 1, .keep_segments = 3, .keep_unshipped = 1 << 20},
		.ship_state = state,
	};
	struct logs *logs = NULL;
	struct log_use *log;
	char path[128];

	assert_int_equal(remove_directory(NULL), 0);
	assert_int_equal(mkdir(directory, 0700), 0);
	assert_int_equal(logs_new(&options, NULL, &logs, NULL), 0);
	assert_int_equal(logs_get(logs, directory, &log, NULL), 0);
	for (int i = 0; i < 6; i++) {
		append(log, "test");
		(void)logs_flush_all(logs, false);
		(void)logs_tick_all(logs);
	}
	logs_put(log);
	logs_free(logs);
	snprintf(path, sizeof(path), "%s/00000000000000000001.jsonl", directory);
	return access(path, F_OK) < 0;
}

/* The writer hears of a shipper, and deletes nothing that it needs. */
static void test_shipped(void **state)
{
	char file[] = "/tmp/cordon-ship-state-XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	closep(&fd);
	assert_false(segment_is_deleted(file));
	unlink(file);
	assert_true(segment_is_deleted(file));
	assert_true(segment_is_deleted(NULL));
}

static bool kept(const char *where)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/policies", where);
	return access(path, F_OK) == 0;
}

/* A policy has its place in the directory that the writer has, and nowhere that its name leads. */
static void test_policy(void **state)
{
	static const char text[] =
		"version: 1\nname: p\nfiles:\n  - {allow: [read], paths: [/srv/p]}\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *policy = NULL;
	char aside[128], command[140], elsewhere[] = "/tmp/cordon-elsewhere-XXXXXX";
	struct logs *logs = new_logs();
	struct failure failure = {};
	struct log_use *log;

	(void)state;
	assert_int_equal(policy_compile_text(text, strlen(text), "/p.yaml", NULL, d, &policy), 0);
	assert_int_equal(logs_get(logs, directory, &log, NULL), 0);
	snprintf(aside, sizeof(aside), "%s.aside", directory);
	assert_non_null(mkdtemp(elsewhere));
	assert_int_equal(rename(directory, aside), 0);
	assert_int_equal(symlink(elsewhere, directory), 0);
	assert_int_equal(logs_put_policy(log, policy, &failure), -ESTALE);
	assert_non_null(strstr(failure.text, "is not the directory of its log any more"));
	assert_false(kept(elsewhere) || kept(aside));
	assert_int_equal(unlink(directory), 0);
	assert_int_equal(rename(aside, directory), 0);
	assert_int_equal(rmdir(elsewhere), 0);

	assert_int_equal(logs_put_policy(log, policy, &failure), 0);
	assert_true(kept(directory));
	assert_false(logs_has_policy(log, policy));
	assert_int_equal(logs_keep_policy(log, policy, &failure), 0);
	assert_true(logs_has_policy(log, policy));

	/* In another directory of that name, to which the writer goes, it is not. */
	assert_int_equal(rename(directory, aside), 0);
	append(log, "stop");
	assert_int_equal(logs_flush(log), 0);
	assert_false(kept(directory));
	assert_false(logs_has_policy(log, policy));
	assert_int_equal(logs_keep_policy(log, policy, &failure), 0);
	assert_true(kept(directory) && logs_has_policy(log, policy));
	snprintf(command, sizeof(command), "rm -rf %s", aside);
	assert_int_equal(system(command), 0);
	logs_put(log);
	logs_free(logs);
}

/* With a loop: at once, or not at all, and once for all by whatever name. */
static void test_within(void **state)
{
	struct event_base *base = event_base_new();
	struct log_use *log = NULL, *again = NULL;
	char place[64], other[80];
	struct failure failure = {};
	struct logs *logs = NULL;
	bool begun = false;

	(void)state;
	snprintf(place, sizeof(place), "%s/within", directory);
	snprintf(other, sizeof(other), "%s/within/../within", directory);
	assert_int_equal(logs_new(NULL, base, &logs, NULL), 0);
	assert_int_equal(logs_get_within(logs, place, 60000, &log, &begun, &failure), 0);
	assert_true(begun && logs_has_begun(log));
	assert_int_equal(logs_get_later(logs, other, &again, &failure), 0);
	assert_ptr_equal(again, log);
	logs_put(again);
	append(log, "start");
	assert_int_equal(logs_flush(log), 0);
	logs_put(log);
	/* What is no log is refused with the reason. */
	assert_int_equal(mkdir(strcat(strcpy(other, place), "-not"), 0755), 0);
	assert_int_equal(
		close(open(strcat(strcpy(other, place), "-not/a"), O_CREAT | O_WRONLY, 0644)), 0);
	strcat(strcpy(other, place), "-not");
	assert_true(logs_get_within(logs, other, 60000, &log, &begun, &failure) < 0);
	assert_non_null(strstr(failure.text, "cannot open the audit log in"));
	assert_non_null(strstr(failure.text, "holds something else than a log"));
	logs_free(logs);
	event_base_free(base);
}

/* Nobody reads what the kernel asks this file system for. */
static int mount_silent(const char *place)
{
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[80];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	if (device >= 0 && mount("silent", place, "fuse", 0, options) == 0)
		return device;
	closep(&device);
	return -1;
}

static void test_silent(void **state)
{
	struct event_base *base = event_base_new();
	char place[64], log_place[80];
	struct failure failure = {};
	struct log_use *log = NULL;
	struct logs *logs = NULL;
	bool begun = true;
	int device;

	(void)state;
	snprintf(place, sizeof(place), "%s/silent", directory);
	snprintf(log_place, sizeof(log_place), "%s/log", place);
	assert_int_equal(mkdir(place, 0755), 0);
	device = mount_silent(place);
	if (device < 0) {
		event_base_free(base);
		skip();
	}
	/* One that waits for it never returns. */
	alarm(120);
	assert_int_equal(logs_new(NULL, base, &logs, NULL), 0);
	assert_int_equal(logs_get_within(logs, log_place, 200, &log, &begun, &failure), 0);
	assert_false(begun || logs_has_begun(log));
	/* What is recorded waits in memory; another who wants that log waits for nothing. */
	append(log, "start");
	assert_int_equal(logs_get_later(logs, log_place, &log, &failure), 0);
	logs_put(log);
	logs_put(log);
	logs_free(logs);
	errands_forget();
	alarm(0);
	close(device);
	assert_int_equal(umount2(place, MNT_DETACH), 0);
	event_base_free(base);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),	cmocka_unit_test(test_torn),
		cmocka_unit_test(test_figures), cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_policy),	cmocka_unit_test(test_within),
		cmocka_unit_test(test_silent),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
