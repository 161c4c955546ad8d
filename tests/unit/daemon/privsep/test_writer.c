/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log's writer that is killed, stopped or deprived of its directory: nothing that it was given is
 * lost.
 */
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
#include "audit/record/identity.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "audit/seal/verify.h"
#include "base/clock.h"
#include "base/io.h"
#include "daemon/privsep/writer.h"
#include "daemon/privsep/writer_directory.h"
#include "daemon/privsep/writer_share.h"
#include "daemon/privsep/writer_state.h"
#include "tests/unit/daemon/fake/waits.h"
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

static unsigned int left;

static void note_left(struct writer *writer, void *context)
{
	(void)context;
	left++;
	writer_close(writer);
}

static struct writer_settings settings_in(struct event_base *base)
{
	static char identity[IDENTITY_TEXT_MAX];
	struct writer_settings settings = {
		.log = AUDIT_LOG_DEFAULTS,
		.base = base,
		.restarted = count_death,
		.left = note_left,
	};

	/* The writer, which cannot look, is told which host this is. */
	assert_int_equal(
		identity_format(&(struct identity){.name = "web-7", .version = "1"}, identity), 0);
	settings.log.identity = identity;
	assert_int_equal(writer_user_find(NULL, &settings.uid, &settings.gid, NULL), 0);
	return settings;
}

static struct writer *new_writer_in(struct event_base *base)
{
	const struct writer_settings settings = settings_in(base);
	struct writer *writer = NULL;
	struct failure failure = {};
	uint64_t repaired;

	deaths = 0;
	if (writer_open(directory, &settings, &writer, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	return writer;
}

static struct writer *new_writer(void)
{
	return new_writer_in(NULL);
}

static int append_of(struct writer *writer, struct writer_share *share, const char *key,
		     unsigned int number)
{
	char text[256], time[CLOCK_TEXT_SIZE];
	int size;

	clock_format(clock_nsec(CLOCK_REALTIME), time);
	size = snprintf(text, sizeof(text),
			"{\"@timestamp\":\"%s\",\"event\":{\"action\":\"test\"},\"%s\":%u}", time,
			key, number);
	return writer_append(writer, share, text, (size_t)size);
}

static int append(struct writer *writer, unsigned int number)
{
	return append_of(writer, NULL, "number", number);
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
	unsigned int numbers, gaps, records;
	uint64_t missing; /* of records, as gaps say */
	bool ordered, named;
};

static struct counts count(const char *of)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct counts counts = {.ordered = true};
	json_t *record;

	assert_int_equal(audit_reader_open(of, &reader, NULL), 0);
	while (audit_reader_next(reader, &record, NULL) == 0) {
		const json_t *number = json_object_get(record, "number");
		const json_t *host = json_object_get(record, "host");
		const json_t *gap = json_object_get(json_object_get(record, "cordon"), "gap");

		/*
		 * A segment's first record, or behind the gap that says what became of the log
		 * before it.
		 */
		if (counts.records++ < 2 && json_object_get(host, "name"))
			counts.named = true;
		if (number)
			counts.ordered &= json_integer_value(number) == counts.numbers++;
		else if (gap)
			counts.gaps++;
		counts.missing += (uint64_t)json_integer_value(json_object_get(gap, "missing"));
		json_decref(record);
	}
	assert_true(counts.named);
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

/*
 * No writer can be had: what waits is kept up to a bound, and what is lost behind it is counted in
 * the log.
 */
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

#define WAITS 50

struct waits {
	unsigned int done, failed;
};

static void on_done(int result, void *context)
{
	struct waits *waits = context;

	waits->done++;
	waits->failed += result < 0;
}

static void turn_until(struct event_base *base, const unsigned int *done, unsigned int wanted)
{
	while (*done < wanted)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_int_equal(*done, wanted);
}

/* A writer with an empty log, whose process does nothing until SIGCONT. */
static struct writer *stopped_writer(struct event_base *base, pid_t *ret_pid)
{
	struct writer *writer;

	remove_all();
	writer = new_writer_in(base);
	*ret_pid = child();
	assert_int_equal(kill(*ret_pid, SIGSTOP), 0);
	return writer;
}

/* While a writer hangs, only a flush waits; when it goes on, all that waited for it are told. */
static void test_stopped(void **state)
{
	struct event_base *base = event_base_new();
	struct writer_wait *waits[WAITS], *cancelled;
	unsigned int number = 0;
	struct waits heard = {};
	struct writer *writer;
	pid_t pid;

	(void)state;
	writer = stopped_writer(base, &pid);
	vain_waits = 0;
	for (unsigned int i = 0; i < WAITS; i++) {
		assert_int_equal(append(writer, number++), 0);
		assert_int_equal(writer_when_flushed(writer, i % 2, on_done, &heard, &waits[i]), 0);
	}
	assert_int_equal(writer_when_flushed(writer, false, on_done, &heard, &cancelled), 0);
	writer_wait_cancel(writer, cancelled);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(writer_writable(writer), 0);
		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	}
	/* More than any buffer on the way to it has room for. */
	while (number < 20000)
		assert_int_equal(append(writer, number++), 0);
	assert_int_equal(vain_waits, 0);
	assert_int_equal(writer_flush_within(writer, false, 10), -ETIMEDOUT);
	assert_true(vain_waits > 0);
	assert_int_equal(heard.done, 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	turn_until(base, &heard.done, WAITS);
	assert_int_equal(heard.failed, 0);
	assert_true(count(directory).numbers >= WAITS);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, number);
	assert_true(count(directory).ordered);
	assert_int_equal(deaths, 0);
	event_base_free(base);
}

/* Who waits when a writer dies hears of it from the next one. */
static void test_killed_while_others_wait(void **state)
{
	struct event_base *base = event_base_new();
	struct writer_wait *wait;
	struct waits heard = {};
	struct writer *writer;

	(void)state;
	remove_all();
	left = 0;
	writer = new_writer_in(base);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(kill(child(), SIGSTOP), 0);
		assert_int_equal(append(writer, i), 0);
		assert_int_equal(writer_when_flushed(writer, i % 2, on_done, &heard, &wait), 0);
		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		assert_int_equal(kill(child(), SIGKILL), 0);
		turn_until(base, &heard.done, i + 1);
		assert_int_equal(count(directory).numbers, i + 1);
	}
	assert_int_equal(heard.failed, 0);
	assert_int_equal(deaths, 10);
	/* It leaves without anybody waiting for that. */
	writer_leave(writer);
	turn_until(base, &left, 1);
	assert_int_equal(child(), 0);
	assert_verifies(directory);
	event_base_free(base);
}

/*
 * With much to do it is asked in parts, each of which is confirmed by itself: whoever waits for the
 * first of the records hears before the last one is written.
 */
static void test_much(void **state)
{
	struct event_base *base = event_base_new();
	struct waits first = {}, last = {};
	struct writer_wait *wait;
	struct writer *writer;
	unsigned int number = 0;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	assert_int_equal(append(writer, number++), 0);
	assert_int_equal(writer_when_flushed(writer, true, on_done, &first, &wait), 0);
	while (number < 20000)
		assert_int_equal(append(writer, number++), 0);
	assert_int_equal(writer_when_flushed(writer, true, on_done, &last, &wait), 0);
	while (first.done == 0) {
		assert_int_equal(last.done, 0);
		event_base_loop(base, EVLOOP_ONCE);
	}
	assert_true(writer_is_dirty(writer));
	turn_until(base, &last.done, 1);
	assert_false(writer_is_dirty(writer));
	assert_int_equal(first.failed + last.failed, 0);
	assert_int_equal(count(directory).numbers, number);
	writer_close(writer);
	assert_verifies(directory);
	event_base_free(base);
}

/* What is lost while the writer is told of what was lost before is told as well. */
static void test_lost_meanwhile(void **state)
{
	struct event_base *base = event_base_new();
	struct writer_share loud = {};
	struct writer *writer;
	uint64_t lost;
	pid_t pid;

	(void)state;
	writer = stopped_writer(base, &pid);
	while (writer_lost(writer) == 0)
		(void)append_of(writer, &loud, "loud", 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	for (unsigned int i = 0; i < 200; i++) {
		for (unsigned int k = 0; k < 500; k++)
			(void)append_of(writer, &loud, "loud", k);
		writer_flush_soon(writer, false);
		event_base_loop(base, EVLOOP_NONBLOCK);
	}
	while (writer_is_dirty(writer)) {
		writer_flush_soon(writer, false);
		event_base_loop(base, EVLOOP_ONCE);
	}
	lost = writer_lost(writer);
	assert_true(lost > 1);
	writer_close(writer);
	assert_int_equal(count(directory).missing, lost);
	assert_verifies(directory);
	event_base_free(base);
}

/*
 * One that floods a writer that hangs loses of its own; others, and what has no share, lose
 * nothing.
 */
static void test_flooded(void **state)
{
	struct event_base *base = event_base_new();
	struct writer_share loud = {}, quiet = {};
	unsigned int number = 0, kept = 0;
	struct writer *writer;
	pid_t pid;

	(void)state;
	writer = stopped_writer(base, &pid);
	for (unsigned int i = 0; i < 200000; i++)
		kept += append_of(writer, &loud, "loud", i) == 0;
	assert_in_range(kept, 1000, 199999);
	assert_int_equal(writer_lost(writer), 200000 - kept);
	while (number < 2000) {
		assert_int_equal(append_of(writer, number % 2 ? &quiet : NULL, "number", number),
				 0);
		number++;
	}
	assert_int_equal(append_of(writer, &loud, "loud", 0), -ENOBUFS);
	assert_int_equal(kill(pid, SIGCONT), 0);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, number);
	assert_true(count(directory).ordered);
	assert_int_equal(count(directory).gaps, 1);
	assert_verifies(directory);
	event_base_free(base);
}

/*
 * A source that waits when it is told to has little in line, and loses nothing; one that hangs is
 * not waited for.
 */
static void test_enough(void **state)
{
	struct event_base *base = event_base_new();
	struct writer_share loud = {}, quiet = {};
	unsigned int number = 0;
	struct writer *writer;
	pid_t pid;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	pid = child();
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_false(writer_has_enough(writer, &loud));
	while (!writer_has_enough(writer, &loud)) {
		assert_int_equal(append_of(writer, &loud, "number", number++), 0);
		assert_true(number < 10000);
	}
	assert_true(number > 100);
	assert_false(writer_has_enough(writer, &quiet));
	assert_false(writer_is_behind(writer));
	assert_int_equal(kill(pid, SIGCONT), 0);
	while (writer_has_enough(writer, &loud)) {
		writer_flush_soon(writer, false);
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	}
	assert_int_equal(kill(pid, SIGSTOP), 0);
	while (!writer_has_enough(writer, &loud))
		assert_int_equal(append_of(writer, &loud, "number", number++), 0);
	writer_flush_soon(writer, false);
	while (!writer_is_slow(writer))
		usleep(100000);
	assert_false(writer_has_enough(writer, &loud));
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(writer_lost(writer), 0);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, number);
	assert_true(count(directory).ordered);
	assert_verifies(directory);
	event_base_free(base);
}

struct answer {
	unsigned int done;
	int result;
};

static void on_answer(int result, void *context)
{
	struct answer *answer = context;

	answer->done++;
	answer->result = result;
}

/* The writer's own process: another child may be one that looks at the log's directory for it. */
static void kill_idle(struct event_base *base, const struct writer *writer)
{
	unsigned int before = deaths;

	while (writer->fd < 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_int_equal(kill(writer->pid, SIGKILL), 0);
	while (deaths == before)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
}

/* Who asks when there is no writer hears from the next one, however many die before they answer. */
static void test_ready(void **state)
{
	struct event_base *base = event_base_new();
	struct answer heard = {};
	struct writer_wait *wait;
	struct writer *writer;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 0);
	kill_idle(base, writer);
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	writer_wait_cancel(writer, wait);
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	for (int i = 0; i < 2 * DEATHS_MAX && heard.done == 0; i++)
		kill_idle(base, writer);
	turn_until(base, &heard.done, 1);
	assert_int_equal(heard.result, 0);
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 0);
	writer_close(writer);
	event_base_free(base);
}

/* The log goes on in a new directory, which the loop has found, made and opened by others. */
static void test_moved_in_loop(void **state)
{
	struct event_base *base = event_base_new();
	struct waits heard = {};
	struct answer ready = {};
	struct writer_wait *wait;
	struct writer *writer;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	assert_int_equal(append(writer, 0), 0);
	assert_int_equal(writer_when_flushed(writer, true, on_done, &heard, &wait), 0);
	turn_until(base, &heard.done, 1);
	assert_int_equal(rename(directory, aside), 0);
	/* It is not there, and by and by it is. */
	assert_int_equal(writer_when_ready(writer, on_answer, &ready, &wait), 1);
	assert_non_null(writer->looking);
	turn_until(base, &ready.done, 1);
	assert_int_equal(ready.result, 0);
	assert_int_equal(append(writer, 1), 0);
	assert_int_equal(writer_when_flushed(writer, true, on_done, &heard, &wait), 0);
	turn_until(base, &heard.done, 2);
	assert_int_equal(heard.failed, 0);
	assert_int_equal(append(writer, 2), 0);
	writer_close(writer);
	assert_int_equal(count(aside).numbers, 1);
	assert_int_equal(count(directory).numbers, 2);
	assert_int_equal(count(directory).gaps, 1);
	event_base_free(base);
}

/* One that dies is followed by another in the same place, and nobody asks where that is. */
static void test_same_place(void **state)
{
	struct event_base *base = event_base_new();
	struct waits heard = {};
	struct writer_wait *wait;
	struct writer *writer;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	for (unsigned int i = 1; i < 4; i++) {
		kill_idle(base, writer);
		assert_int_equal(append(writer, i - 1), 0);
		assert_int_equal(writer_when_flushed(writer, true, on_done, &heard, &wait), 0);
		turn_until(base, &heard.done, i);
	}
	assert_int_equal(heard.failed, 0);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, 3);
	event_base_free(base);
}

/* On a busy machine the caches do not always say. */
static int is_place(const struct writer_place *place)
{
	int r;

	while ((r = writer_place_is(place, directory)) == -EAGAIN)
		;
	return r;
}

/* What another process has found goes to the loop as text and a descriptor. */
static void test_place(void **state)
{
	struct writer_place place, told;
	uid_t uid;
	gid_t gid;
	char *name = NULL, text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	remove_all();
	assert_int_equal(writer_user_find(NULL, &uid, &gid, NULL), 0);
	assert_int_equal(writer_place_find(directory, uid, gid, &place, NULL), 0);
	assert_int_equal(fcntl(place.fd, F_GETFL) & O_PATH, O_PATH);
	assert_int_equal(is_place(&place), 1);
	assert_true(writer_place_is_now(&place, directory));
	writer_place_write(&place, directory, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(writer_place_parse(text, strlen(text), &told, &name), 0);
	assert_string_equal(name, directory);
	assert_int_equal(told.inode, place.inode);
	assert_int_equal(told.device, place.device);
	assert_int_equal(told.fd, -1);
	free(name);
	assert_int_equal(writer_place_parse("1 2", 3, &told, &name), -EPROTO);
	assert_int_equal(writer_place_parse("1 x /a", 6, &told, &name), -EPROTO);
	assert_int_equal(writer_place_parse("1 2 a", 5, &told, &name), -EPROTO);
	/* Another in its place, which is in the caches as it was just made. */
	assert_int_equal(rename(directory, aside), 0);
	assert_int_equal(mkdir(directory, 0750), 0);
	assert_int_equal(is_place(&place), 0);
	assert_false(writer_place_is_now(&place, directory));
	writer_place_release(&place);
	assert_int_equal(place.fd, -1);
}

/* Opened in a place that is known, it begins while nobody waits; or says why it cannot. */
static void test_open_at(void **state)
{
	struct event_base *base = event_base_new();
	const struct writer_settings settings = settings_in(base);
	struct writer_place place;
	struct answer heard = {};
	struct writer_wait *wait;
	struct writer *writer;

	(void)state;
	remove_all();
	assert_int_equal(writer_place_find(directory, settings.uid, settings.gid, &place, NULL), 0);
	assert_int_equal(writer_open_at(directory, &place, &settings, &writer, NULL), 0);
	assert_int_equal(place.fd, -1);
	assert_false(writer_has_begun(writer));
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	turn_until(base, &heard.done, 1);
	assert_int_equal(heard.result, 0);
	assert_true(writer_has_begun(writer));
	assert_int_equal(append(writer, 0), 0);
	writer_close(writer);
	assert_int_equal(count(directory).numbers, 1);

	remove_all();
	assert_int_equal(writer_place_find(directory, settings.uid, settings.gid, &place, NULL), 0);
	snprintf(aside, sizeof(aside), "%s/log/" SEGMENT_NAME, top);
	assert_int_equal(mkdir(aside, 0700), 0);
	assert_int_equal(writer_open_at(directory, &place, &settings, &writer, NULL), 0);
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	turn_until(base, &heard.done, 2);
	assert_true(heard.result < 0);
	assert_false(writer_has_begun(writer));
	assert_true(*writer_why_not_begun(writer) != '\0');
	writer_abandon(writer);
	assert_int_equal(rmdir(aside), 0);
	snprintf(aside, sizeof(aside), "%s/aside", top);
	event_base_free(base);
}

/* Why there is none is an answer, too; so is that there was none in time. */
static void test_not_ready(void **state)
{
	struct event_base *base = event_base_new();
	struct answer heard = {};
	struct writer_wait *wait;
	struct writer *writer;
	struct stat place;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	assert_int_equal(stat(directory, &place), 0);
	assert_true(writer_is_in(writer, place.st_dev, place.st_ino));
	kill_idle(base, writer);
	assert_int_equal(rename(directory, aside), 0);
	close(open(directory, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	turn_until(base, &heard.done, 1);
	assert_int_equal(heard.result, -ENOTDIR);
	/* The directory that it left may be removed, and another get its numbers. */
	assert_false(writer_is_in(writer, place.st_dev, place.st_ino));
	unlink(directory);
	assert_int_equal(rename(aside, directory), 0);
	/* It was no when it was asked last. */
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	turn_until(base, &heard.done, 2);
	assert_int_equal(heard.result, 0);
	assert_true(writer_is_in(writer, place.st_dev, place.st_ino));

	kill_idle(base, writer);
	writer->not_before = UINT64_MAX;
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	event_base_loop(base, EVLOOP_NONBLOCK);
	assert_int_equal(heard.done, 2);
	assert_true(wait->until > clock_nsec(CLOCK_MONOTONIC));
	wait->until = 0;
	turn_until(base, &heard.done, 3);
	assert_int_equal(heard.result, -ETIMEDOUT);
	/* One that is left when the log is closed is told nothing. */
	assert_int_equal(writer_when_ready(writer, on_answer, &heard, &wait), 1);
	writer->not_before = 0;
	writer_close(writer);
	assert_int_equal(heard.done, 3);
	event_base_free(base);
}

/*
 * A log that is full has room for what is written by then: that it was written does not say that
 * more can be.
 */
static void test_written_is_not_writable(void **state)
{
	struct event_base *base = event_base_new();
	struct waits written = {};
	struct writer_wait *wait;
	struct writer *writer;

	(void)state;
	remove_all();
	writer = new_writer_in(base);
	/* As it said last. */
	writer->unwritable = -ENOSPC;
	assert_int_equal(append(writer, 0), 0);
	assert_int_equal(writer_when_flushed(writer, true, on_done, &written, &wait), 0);
	turn_until(base, &written.done, 1);
	assert_int_equal(written.failed, 0);
	assert_true(writer->unwritable == -ENOSPC || writer->answers > 0);
	/* It is asked for because of that. */
	while (writer->answers == 0)
		assert_int_equal(event_base_loop(base, EVLOOP_ONCE), 0);
	assert_int_equal(writer->unwritable, 0);
	writer_close(writer);
	event_base_free(base);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_none_to_be_had),
		cmocka_unit_test(test_directory),
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_killed_while_others_wait),
		cmocka_unit_test(test_much),
		cmocka_unit_test(test_lost_meanwhile),
		cmocka_unit_test(test_flooded),
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_moved_in_loop),
		cmocka_unit_test(test_same_place),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_open_at),
		cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_written_is_not_writable),
	};

	writer_fixture_main(argc, argv);
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
