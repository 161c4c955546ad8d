/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of seals over the life of a log: erased, begun late, renewed, and after retention. */
#include "tests/unit/audit/seal/sealed_log.h"

/* --- keys ---------------------------------------------------------------------------------- */

static void read_key_file(char **ret_data, size_t *ret_size)
{
	char path[160];
	struct stat status;

	snprintf(path, sizeof(path), "%s/" SEAL_FILE, directory);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, ret_data, ret_size), 0);
}

/* A key that has sealed is nowhere on disk. */
static void test_keys_are_erased(void **state)
{
	struct seal_key key;
	struct audit_log *log;

	(void)state;
	empty();
	set_up_keys();
	assert_int_equal(seal_key_first(verification[0], &key), 0);
	log = open_one_segment();
	for (int i = 0; i < 20; i++) {
		_cleanup_(freep) char *data = NULL;
		size_t size;

		read_key_file(&data, &size);
		assert_null(memmem(data, size, verification[0], SEAL_KEY_SIZE));
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
		append_sealed(log, 1);
		free(TAKE_PTR(data));
		read_key_file(&data, &size);
		assert_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(seal_key_advance(&key), 0);
		assert_int_equal(key.number, i + 2);
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
	}
	audit_log_close(log);
	assert_int_equal(verify(true).problems, 0);
}

/* Whatever a crash leaves of the file, while the next key is written or the old one erased. */
static void test_key_file_torn(void **state)
{
	_cleanup_(freep) char *before = NULL, *after = NULL;
	size_t before_size, after_size, place = 4096, stored = 96;
	char torn[8192] = {};
	struct audit_log *log;

	(void)state;
	log = begin_sealed(1);
	read_key_file(&before, &before_size);
	append_sealed(log, 1);
	audit_log_close(log);
	read_key_file(&after, &after_size);
	assert_int_equal(before_size, place + stored);
	for (size_t cut = 0; cut <= 2 * stored; cut++) {
		struct verify_result result;

		/* The key of seal 3 is in the first place, that of seal 2 was in the second. */
		memcpy(torn, before, before_size);
		memcpy(torn, after, cut < stored ? cut : stored);
		if (cut > stored)
			memset(torn + place, 0, cut - stored);
		write_file(SEAL_FILE, torn, before_size);
		audit_log_close(open_one_segment());
		result = verify(true);
		if (result.problems > 0)
			fail_msg("cut %zu: %s", cut, last_text);
		assert_int_equal(result.seals, 2);
		{
			_cleanup_(freep) char *data = NULL;
			size_t size;

			read_key_file(&data, &size);
			assert_null(memmem(data, size, before + place + 32, SEAL_KEY_SIZE));
		}
	}
}

/* Sealing begins while a writer is at work. */
static void test_begun_later(void **state)
{
	struct audit_log *log;
	struct verify_result result;

	(void)state;
	empty();
	log = open_one_segment();
	append_sealed(log, 3);
	assert_int_equal(verify(false).seals, 0);
	assert_int_equal(verify(true).problems, 1);
	set_up_keys();
	append_sealed(log, 3);
	append(log, 1);
	assert_int_equal(audit_log_flush(log, false), 0);
	result = verify(true);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.seals, 1);
	assert_int_equal(result.sealed, 7);
	assert_int_equal(result.sequence, 8);
	audit_log_close(log);
	assert_int_equal(verify(true).sealed, 9);
}

static struct verify_result verify_with(size_t first, size_t count)
{
	const struct verify_options verify_options = {
		.keys = verification + first,
		.key_count = count,
		.problem = keep_text,
	};
	struct verify_result result = {};

	last_text[0] = '\0';
	assert_int_equal(verify_log(directory, &verify_options, &result, NULL), 0);
	return result;
}

/* A log of two keys: each proves its own, and the later one all that was there when it began. */
static void test_renewed(void **state)
{
	struct verify_result result;
	struct audit_log *log;

	(void)state;
	log = begin_sealed(2);
	renew_keys();
	/* At once, be there something to seal or not. */
	(void)audit_log_tick(log);
	assert_int_equal(verify_with(0, 1).seals, 2);
	assert_int_equal(verify_with(0, 1).problems, 0);
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	/* 2 records, 2 seals, then twice 2 and a seal. */
	result = verify_with(0, 2);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.seals, 4);
	assert_int_equal(result.unchecked, 0);
	assert_int_equal(result.sealed, 10);
	result = verify_with(0, 1);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.unchecked, 2);
	assert_int_equal(result.sealed, 4);
	result = verify_with(1, 1);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.unchecked, 2);
	assert_int_equal(result.sealed, 10);
	/* One that is of another log. */
	assert_int_equal(verify_with(3, 1).problems, 1);
	assert_int_equal(verify_with(3, 1).sealed, 0);
	/* The old key is nowhere, the new one where the old one was. */
	{
		_cleanup_(freep) char *data = NULL;
		struct seal_key key;
		size_t size;

		read_key_file(&data, &size);
		assert_int_equal(seal_key_first(verification[1], &key), 0);
		assert_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(seal_key_advance(&key), 0);
		assert_int_equal(seal_key_advance(&key), 0);
		assert_non_null(memmem(data, size, key.key, sizeof(key.key)));
		assert_int_equal(access(SEAL_NEXT, F_OK), -1);
	}
}

/* Root, who knows the key of the next seal, begins a key of his own earlier than that. */
static void test_renewed_in_the_past(void **state)
{
	_cleanup_(freep) char *early = NULL, *key_file = NULL;
	size_t early_size, key_size;
	char path[160];
	struct audit_log *log;

	(void)state;
	log = begin_sealed(2);
	snprintf(path, sizeof(path), "%s/" SEGMENT_NAME, directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &early, &early_size), 0);
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	/* Cut off behind the first seal, and begun anew with the key at hand. */
	read_key_file(&key_file, &key_size);
	write_file(SEGMENT_NAME, early, early_size);
	log = open_one_segment();
	renew_keys();
	append_sealed(log, 2);
	append_sealed(log, 2);
	audit_log_close(log);
	assert_true(verify_with(0, 2).problems > 0);
	assert_true(verify_with(0, 1).problems > 0);
	/* Nor by taking the new key without a seal of the old one that says so. */
	write_file(SEGMENT_NAME, early, early_size);
	remove_file(SEAL_FILE);
	begin_with(verification[1]);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_true(verify_with(0, 1).problems > 0);
	assert_true(verify_with(0, 2).problems > 0);
	/* Nor by saying that the log ends where the key was replaced. */
	log = begin_sealed(2);
	renew_keys();
	(void)audit_log_tick(log);
	free(TAKE_PTR(early));
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &early, &early_size), 0);
	append_sealed(log, 2);
	audit_log_close(log);
	write_file(SEGMENT_NAME, early, early_size);
	assert_true(verify_with(0, 2).problems > 0);
	write_file(SEAL_FILE, key_file, key_size);
	assert_true(verify_with(0, 2).problems > 0);
}

/*
 * A key that is another log's, though its next seal has the number that is awaited, goes on where
 * no seal says so.
 */
static void test_sealed_with_another_key(void **state)
{
	_cleanup_(freep) char *other = NULL;
	struct audit_log *log;
	size_t size;

	(void)state;
	empty();
	begin_with(verification[1]);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	read_key_file(&other, &size);
	log = begin_sealed(2);
	audit_log_close(log);
	assert_int_equal(verify_with(0, 2).problems, 0);
	write_file(SEAL_FILE, other, size);
	log = open_one_segment();
	append_sealed(log, 2);
	audit_log_close(log);
	assert_int_equal(verify_with(0, 2).problems, 1);
	assert_non_null(strstr(last_text, "seal 2 was made with another key"));
}

static unsigned int notes;

static void count_note(void *data, const char *text)
{
	(void)data;
	(void)text;
	notes++;
}

static uint64_t stepping_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME ? now + stepped : now - 1763683000000000000ull;
}

static size_t count_segments(void)
{
	struct segments segments;
	size_t count;

	assert_int_equal(segments_list(directory, &segments), 0);
	count = segments.count;
	segments_free(&segments);
	return count;
}

/* Each bound deletes the oldest, on record; without the record it is tampering. */
static void test_retention(void **state)
{
	static const struct audit_log_options bounds[] = {
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_segments = 3},
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_bytes = 7000},
		/* Files were changed now, whatever the clock says. */
		{.clock = pretended_clock, .segment_bytes = 1500, .keep_nsec = 3600 * NSEC_PER_SEC},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		uint64_t repaired, before = now;
		struct audit_log *log;
		struct verify_result result;
		struct segments segments;
		char name[SEGMENTS_NAME_SIZE];

		empty();
		set_up_keys();
		now = clock_nsec(CLOCK_REALTIME);
		assert_int_equal(audit_log_open(directory, &bounds[i], &log, &repaired, NULL), 0);
		for (int k = 0; k < 60; k++) {
			append(log, k);
			assert_int_equal(audit_log_flush(log, false), 0);
			(void)audit_log_tick(log);
		}
		now += 7200 * NSEC_PER_SEC;
		append(log, 60);
		(void)audit_log_tick(log);
		assert_in_range(count_segments(), bounds[i].keep_nsec ? 0 : 1, 5);
		audit_log_close(log);
		result = verify(true);
		if (result.problems > 0)
			fail_msg("%s", last_text);
		assert_true(result.first > 1);
		assert_int_equal(result.sealed, result.sequence);
		if (count_segments() == 0) {
			now = before;
			continue;
		}
		assert_int_equal(segments_list(directory, &segments), 0);
		segments_name(segments.entries[0].first, segments.entries[0].compressed, name);
		segments_free(&segments);
		remove_file(name);
		assert_true(verify(true).problems > 0);
		now = before;
	}
}

static void test_compressed(void **state)
{
	static const struct audit_log_options compressing = {
		.clock = pretended_clock,
		.segment_bytes = 3000,
		.compress = true,
	};
	struct audit_log *log;
	struct segments segments;
	uint64_t repaired;
	char name[SEGMENTS_NAME_SIZE + 64];

	(void)state;
	empty();
	set_up_keys();
	assert_int_equal(audit_log_open(directory, &compressing, &log, &repaired, NULL), 0);
	for (int i = 0; i < 40; i++)
		append(log, i);
	assert_int_equal(audit_log_flush(log, false), 0);
	while (audit_log_tick(log))
		usleep(1000);
	audit_log_close(log);
	assert_int_equal(segments_list(directory, &segments), 0);
	assert_int_equal(segments.count, 1);
	assert_true(segments.entries[0].compressed && !segments.entries[0].both);
	segments_free(&segments);
	assert_int_equal(verify(true).problems, 0);
	/* A crash came before the plain one was removed, or while it was compressed. */
	write_file("00000000000000000001.jsonl.gz", "", 0);
	assert_true(verify(true).problems > 0);
	snprintf(name, sizeof(name), "%s/00000000000000000001.jsonl.gz", directory);
	unlink(name);
}

static void test_clock_steps(void **state)
{
	static const struct audit_log_options with_steps = {
		.clock = stepping_clock,
		.seal_nsec = 10 * NSEC_PER_SEC,
	};
	const struct verify_options verify_options = {
		.keys = verification, .key_count = 1, .note = count_note};
	struct verify_result result;
	struct audit_log *log;
	uint64_t repaired;

	(void)state;
	empty();
	set_up_keys();
	stepped = 0;
	assert_int_equal(audit_log_open(directory, &with_steps, &log, &repaired, NULL), 0);
	append_sealed(log, 1);
	append_sealed(log, 1);
	stepped = 3600 * NSEC_PER_SEC;
	append_sealed(log, 1);
	append_sealed(log, 1);
	stepped = 0;
	append_sealed(log, 1);
	audit_log_close(log);
	notes = 0;
	assert_int_equal(verify_log(directory, &verify_options, &result, NULL), 0);
	assert_int_equal(result.problems, 0);
	assert_int_equal(result.notes, notes);
	/* Forward and back as the seals tell, and back as the records do. */
	assert_int_equal(notes, 3);
}

static void test_key_text(void **state)
{
	unsigned char back[SEAL_KEY_SIZE];
	char text[SEAL_TEXT_SIZE + 2];

	(void)state;
	seal_format(verification[0], text);
	assert_int_equal(strlen(text), SEAL_TEXT_SIZE - 1);
	strcat(text, "\n");
	assert_int_equal(seal_parse(text, back), 0);
	assert_memory_equal(back, verification[0], sizeof(back));
	assert_int_equal(seal_parse("0102", back), -EINVAL);
	assert_int_equal(seal_parse("", back), -EINVAL);
	text[3] = 'x';
	assert_int_equal(seal_parse(text, back), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_are_erased),
		cmocka_unit_test(test_key_file_torn),
		cmocka_unit_test(test_renewed),
		cmocka_unit_test(test_renewed_in_the_past),
		cmocka_unit_test(test_begun_later),
		cmocka_unit_test(test_clock_steps),
		cmocka_unit_test(test_key_text),
		cmocka_unit_test(test_retention),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_sealed_with_another_key),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
