/* SPDX-License-Identifier: Apache-2.0 */
/* A sealed log in memory, and what may be done to it. */
#ifndef CORDON_TEST_SEALED_LOG_H
#define CORDON_TEST_SEALED_LOG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/write/log.h"
#include "audit/seal/seal.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "audit/seal/verify.h"
#include "base/io.h"

static uint64_t seed = 0x243f6a8885a308d3ull;

static inline uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % below;
}

/* --- a log, in memory ---------------------------------------------------------------------- */

/* That of the log, and those that take its place. */
#define KEYS 4

static const unsigned char verification[KEYS][SEAL_KEY_SIZE] = {{1, 2, 3}, {4, 5, 6}, {7, 8}, {9}};

static size_t key_count = 1;

static uint64_t now = 1763683200000000000ull;

static uint64_t pretended_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? now : now - 1763683000000000000ull;
}

static char directory[] = "/dev/shm/cordon-seal-XXXXXX";

static void empty(void)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
}

static void begin_with(const unsigned char key_text[SEAL_KEY_SIZE])
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	assert_int_equal(seal_key_first(key_text, &key), 0);
	assert_int_equal(seal_file_create(fd, &key, &file), 0);
	seal_file_close(&file);
	assert_int_equal(seal_file_create(fd, &key, &file), -EEXIST);
	close(fd);
}

static void set_up_keys(void)
{
	key_count = 1;
	begin_with(verification[0]);
}

/* As `cordon log renew-keys` does. */
static void renew_keys(void)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY);
	struct seal_file file = SEAL_FILE_INIT;
	struct seal_key key;

	assert_true(key_count < KEYS);
	assert_int_equal(seal_key_first(verification[key_count], &key), 0);
	assert_int_equal(seal_next_draft(fd, &key, &file), 0);
	seal_file_close(&file);
	if (seal_next_offer(fd) == 0)
		key_count++;
	close(fd);
}

static uint64_t stepped;

static void append(struct audit_log *log, int number)
{
	_cleanup_(json_decrefp) json_t *record = NULL;
	char time[CLOCK_TEXT_SIZE];

	clock_format(now + stepped, time);
	record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i, s:{s:i}}}", "@timestamp", time,
			   "event", "kind", "event", "action", "agent-test", "outcome", "success",
			   "cordon", "schema", 1, "agent", "number", number);
	assert_int_equal(audit_log_append(log, record), 0);
}

/* Its files, to be put back. */
struct file {
	char name[64];
	char *data;
	size_t size;
};

static void write_file(const char *name, const char *data, size_t size)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, size), 0);
	close(fd);
}

/* --- verifying ----------------------------------------------------------------------------- */

static char last_text[1024];

static void keep_text(void *data, const char *text)
{
	(void)data;
	snprintf(last_text, sizeof(last_text), "%s", text);
}

struct told {
	unsigned int times;
	uint64_t done, all;
};

static void keep_progress(void *data, uint64_t done, uint64_t all)
{
	struct told *told = data;

	assert_true(done >= told->done && done <= all);
	assert_true(told->times == 0 || all == told->all);
	*told = (struct told){told->times + 1, done, all};
}

static bool any_compressed(void)
{
	struct segments segments;
	bool any = false;

	if (segments_list(directory, &segments) < 0)
		return false;
	for (size_t i = 0; i < segments.count; i++)
		any = any || segments.entries[i].compressed;
	segments_free(&segments);
	return any;
}

static struct verify_result verify(bool with_key)
{
	struct told told = {};
	const struct verify_options verify_options = {
		.keys = verification,
		.key_count = with_key ? key_count : 0,
		.problem = keep_text,
		.progress = keep_progress,
		.progress_data = &told,
	};
	struct verify_result result = {};
	struct failure failure = {};

	last_text[0] = '\0';
	if (verify_log(directory, &verify_options, &result, &failure) < 0)
		fail_msg("%s", failure.text);
	/* What is to be read is what was: of compressed segments, more or less. */
	if (result.bytes > 0)
		assert_true(told.times > 0);
	if (told.times > 0 && !any_compressed())
		assert_int_equal(told.all, result.bytes + result.torn_bytes);
	return result;
}

static void remove_file(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	assert_int_equal(unlink(path), 0);
}

static const struct audit_log_options one_segment = {
	.clock = pretended_clock,
	.seal_nsec = 10 * NSEC_PER_SEC,
};

static struct audit_log *open_one_segment(void)
{
	struct audit_log *log = NULL;
	uint64_t repaired;

	assert_int_equal(audit_log_open(directory, &one_segment, &log, &repaired, NULL), 0);
	return log;
}

static void append_sealed(struct audit_log *log, int count)
{
	for (int i = 0; i < count; i++)
		append(log, i);
	now += 11 * NSEC_PER_SEC;
	(void)audit_log_tick(log);
}

/* In an empty directory, with new keys: so many records, and the seal after them. */
static inline struct audit_log *begin_sealed(int records)
{
	struct audit_log *log;

	empty();
	set_up_keys();
	log = open_one_segment();
	append_sealed(log, records);
	return log;
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	empty();
	return rmdir(directory);
}

#endif
