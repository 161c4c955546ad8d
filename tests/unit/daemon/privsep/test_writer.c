/* SPDX-License-Identifier: Apache-2.0 */
/* A log's writer that is killed, stopped or deprived of its directory: nothing that it was given is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "audit/read/reader.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "audit/seal/verify.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/privsep/writer.h"
#include "daemon/privsep/writer_directory.h"
#include "tests/unit/daemon/privsep/writer_fixture.h"

#define RECORDS 400
#define ROUNDS	60
#define SEED	20261122u

static char top[] = "/tmp/cordon-writer-XXXXXX";
static char directory[64], aside[64];
static unsigned int deaths;

static void command(const char *text)
{
	assert_int_equal(system(text), 0);
}

static void remove_all(void)
{
	char text[192];

	snprintf(text, sizeof(text), "rm -rf %s %s", directory, aside);
	command(text);
}

static int make_top(void **state)
{
	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(directory, sizeof(directory), "%s/log", top);
	snprintf(aside, sizeof(aside), "%s/aside", top);
	return 0;
}

static int remove_top(void **state)
{
	(void)state;
	remove_all();
	return rmdir(top);
}

static void count_death(const char *why, void *context)
{
	(void)why;
	(void)context;
	deaths++;
}

static struct writer *new_writer(void)
{
	struct writer_settings settings = {.log = AUDIT_LOG_DEFAULTS, .restarted = count_death};
	struct writer *writer = NULL;
	struct failure failure = {};
	uint64_t repaired;

	deaths = 0;
	assert_int_equal(writer_user_find(NULL, &settings.uid, &settings.gid, NULL), 0);
	if (writer_open(directory, &settings, &writer, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	return writer;
}

static int append(struct writer *writer, unsigned int number)
{
	char text[256], time[CLOCK_TEXT_SIZE];
	int size;

	clock_format(clock_nsec(CLOCK_REALTIME), time);
	size = snprintf(text, sizeof(text),
			"{\"@timestamp\":\"%s\",\"event\":{\"action\":\"test\"},\"number\":%u}",
			time, number);
	return writer_append(writer, text, (size_t)size);
}

/* The one child of this process that is alive. */
static pid_t child(void)
{
	_cleanup_(freep) char *data = NULL;
	size_t size;

	if (io_read_file(AT_FDCWD, "/proc/thread-self/children", 4096, &data, &size) < 0)
		return 0;
	return (pid_t)atoi(data);
}

struct counts {
	unsigned int numbers, gaps;
	bool ordered;
};

static struct counts count(const char *of)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct counts counts = {.ordered = true};
	json_t *record;

	assert_int_equal(audit_reader_open(of, &reader, NULL), 0);
	while (audit_reader_next(reader, &record, NULL) == 0) {
		const json_t *number = json_object_get(record, "number");

		if (number)
			counts.ordered &= json_integer_value(number) == counts.numbers++;
		else if (json_object_get(json_object_get(record, "cordon"), "gap"))
			counts.gaps++;
		json_decref(record);
	}
	return counts;
}

static void on_problem(void *data, const char *text)
{
	(void)data;
	fail_msg("%s", text);
}

static void assert_verifies(const char *of)
{
	const struct verify_options options = {.problem = on_problem};
	struct verify_result result;

	assert_int_equal(verify_log(of, &options, &result, NULL), 0);
}

/* While it is at work. */
static pid_t kill_after(pid_t pid, const struct timespec *pause)
{
	pid_t killer = fork();

	if (killer == 0) {
		nanosleep(pause, NULL);
		kill(pid, SIGKILL);
		_exit(0);
	}
	return killer;
}

/* Killed at any moment, again and again: each record is there, once, in order. */
static void test_killed(void **state)
{
	struct writer *writer;
	unsigned int seed = SEED, number = 0;

	(void)state;
	remove_all();
	writer = new_writer();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const struct timespec pause = {.tv_nsec = rand_r(&seed) % 2000000};
		pid_t pid = child(), killer = 0;

		assert_true(pid > 0);
		for (unsigned int j = 0; j < RECORDS; j++)
			assert_int_equal(append(writer, number++), 0);
		if (i % 3 == 0)
			assert_int_equal(writer_flush(writer, false), 0);
		if (i % 4 == 1)
			killer = kill_after(pid, &pause);
		else
			kill(pid, SIGKILL);
		assert_int_equal(writer_flush(writer, i % 2), 0);
		if (killer > 0)
			waitpid(killer, NULL, 0);
	}
	assert_int_equal(writer_lost(writer), 0);
	writer_close(writer);
	assert_true(deaths > ROUNDS / 4);
	assert_int_equal(count(directory).numbers, number);
	assert_true(count(directory).ordered);
	assert_true(count(directory).gaps > 0);
	assert_verifies(directory);
}

/* The log goes on in a new directory, seals and all, and says what the old one ended with. */
static void test_moved(void **state)
{
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key = {};
	struct writer *writer;
	struct stat status;
	int fd;

	(void)state;
	remove_all();
	assert_int_equal(mkdir(directory, 0750), 0);
	assert_int_equal(seal_key_first((const unsigned char[SEAL_KEY_SIZE]){7}, &key), 0);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(seal_file_create(fd, &key, &file), 0);
	seal_file_close(&file);
	close(fd);
	writer = new_writer();
	assert_int_equal(append(writer, 0), 0);
	assert_int_equal(writer_flush(writer, true), 0);
	assert_int_equal(append(writer, 1), 0);
	assert_int_equal(rename(directory, aside), 0);
	assert_int_equal(writer_flush(writer, true), 0);
	assert_int_equal(append(writer, 2), 0);
	assert_int_equal(writer_writable(writer), 0);
	writer_close(writer);
	assert_int_equal(count(aside).numbers, 1);
	assert_int_equal(count(directory).numbers, 2);
	assert_int_equal(count(directory).gaps, 1);
	assert_int_equal(deaths, 0);
	snprintf(aside, sizeof(aside), "%s/log/" SEAL_FILE, top);
	assert_int_equal(stat(aside, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	snprintf(aside, sizeof(aside), "%s/aside", top);
}

/* No writer can be had: what waits is kept up to a bound, and what is lost behind it is counted in the log. */
static void test_none_to_be_had(void **state)
{
	unsigned int kept = 0, lost = 0;
	struct writer *writer;

	(void)state;
	remove_all();
	writer = new_writer();
	assert_int_equal(append(writer, kept++), 0);
	assert_int_equal(writer_flush(writer, true), 0);
	/* A file where the directory was. */
	assert_int_equal(rename(directory, aside), 0);
	close(open(directory, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	assert_int_equal(writer_flush(writer, false), -ENOTDIR);
	assert_int_equal(writer_writable(writer), -ENOTDIR);
	while (append(writer, kept) == 0)
		kept++;
	for (; lost < 99; lost++)
		assert_int_equal(append(writer, kept), -ENOTDIR);
	assert_int_equal(writer_lost(writer), 100);
	unlink(directory);
	assert_int_equal(rename(aside, directory), 0);
	assert_int_equal(writer_flush(writer, true), 0);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, kept);
	assert_true(count(directory).ordered);
	assert_verifies(directory);
}

/* Only root's, and only what is a log or empty, becomes the writer's. */
static void test_directory(void **state)
{
	char path[96];
	struct stat status;
	uid_t uid;
	gid_t gid;
	int fd;

	(void)state;
	if (geteuid() != 0)
		return;
	remove_all();
	assert_int_equal(writer_user_find("0", &uid, &gid, NULL), -EINVAL);
	assert_int_equal(writer_user_find("root", &uid, &gid, NULL), -EINVAL);
	assert_int_equal(writer_user_find("no such user", &uid, &gid, NULL), -ENOENT);
	assert_int_equal(writer_user_find("4321", &uid, &gid, NULL), 0);
	assert_int_equal(uid, 4321);
	assert_int_equal(mkdir(directory, 0750), 0);
	snprintf(path, sizeof(path), "%s/something", directory);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(writer_directory_open(directory, uid, gid, NULL), -ENOTEMPTY);
	unlink(path);
	/* A link to another file is no file of the log. */
	snprintf(aside, sizeof(aside), "%s/aside", top);
	close(open(aside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/" SEGMENT_LOCK, directory);
	assert_int_equal(link(aside, path), 0);
	fd = writer_directory_open(directory, uid, gid, NULL);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_uid, 4321);
	assert_int_equal(fstatat(fd, SEGMENT_LOCK, &status, 0), 0);
	assert_int_equal(status.st_uid, 0);
	close(fd);
	assert_int_equal(writer_directory_open(directory, 4322, gid, NULL), -EPERM);
}

/* What it is, and is not able to do. */
static void test_confined(void **state)
{
	_cleanup_(freep) char *text = NULL;
	struct writer *writer;
	char path[64], root[64];
	struct stat status, its;
	size_t size;

	(void)state;
	if (geteuid() != 0)
		return;
	remove_all();
	writer = new_writer();
	snprintf(path, sizeof(path), "/proc/%d/status", child());
	assert_int_equal(io_read_file(AT_FDCWD, path, 65536, &text, &size), 0);
	assert_non_null(strstr(text, "\nUid:\t65530\t65530\t65530\t65530\n"));
	assert_non_null(strstr(text, "\nCapEff:\t0000000000000000\n"));
	assert_non_null(strstr(text, "\nCapPrm:\t0000000000000000\n"));
	assert_non_null(strstr(text, "\nNoNewPrivs:\t1\n"));
	assert_non_null(strstr(text, "\nSeccomp:\t2\n"));
	snprintf(root, sizeof(root), "/proc/%d/root", child());
	assert_int_equal(stat(directory, &status), 0);
	assert_int_equal(stat(root, &its), 0);
	assert_int_equal(its.st_ino, status.st_ino);
	writer_close(writer);
	assert_int_equal(child(), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),	       cmocka_unit_test(test_moved),
		cmocka_unit_test(test_none_to_be_had), cmocka_unit_test(test_directory),
		cmocka_unit_test(test_confined),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
