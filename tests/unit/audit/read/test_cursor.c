// SPDX-License-Identifier: Apache-2.0
/* A reader that goes on from a cursor misses nothing, repeats nothing, and notices another log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/read/reader.h"
#include "audit/record/identity.h"
#include "audit/write/log.h"

#define RECORDS 40u

struct place {
	char directory[64];
	char file[96];
	char identity[IDENTITY_TEXT_MAX];
	struct audit_log_options options;
};

static void fill_log(const struct place *place, unsigned int records)
{
	struct failure failure = {};
	struct audit_log *log;
	uint64_t repaired;

	assert_int_equal(
		audit_log_open(place->directory, &place->options, &log, &repaired, &failure), 0);
	for (unsigned int i = 0; i < records; i++) {
		json_t *record = json_pack("{s:s, s:{s:i}}", "@timestamp",
					   "2026-11-21T00:00:00.000000000Z", "cordon", "number",
					   (int)i);

		assert_int_equal(audit_log_append(log, record), 0);
		json_decref(record);
		assert_int_equal(audit_log_flush(log, false), 0);
	}
	audit_log_close(log);
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	struct identity identity = {.version = "1"};

	assert_non_null(place);
	strcpy(place->directory, "/tmp/cordon-cursor-XXXXXX");
	assert_non_null(mkdtemp(place->directory));
	snprintf(place->file, sizeof(place->file), "%s.at", place->directory);
	assert_int_equal(identity_format(&identity, place->identity), 0);
	place->options =
		(struct audit_log_options){.segment_bytes = 2000, .identity = place->identity};
	fill_log(place, RECORDS);
	*state = place;
	return 0;
}

static void empty_log(const struct place *place)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s/*", place->directory);
	assert_int_equal(system(command), 0);
}

static int teardown(void **state)
{
	struct place *place = *state;

	empty_log(place);
	rmdir(place->directory);
	unlink(place->file);
	free(place);
	return 0;
}

static uint64_t next(struct audit_reader *reader)
{
	struct failure failure = {};
	json_t *record = NULL;
	int r = audit_reader_next(reader, &record, &failure);
	uint64_t sequence = r < 0 ? 0
				  : (uint64_t)json_integer_value(json_object_get(record, "seq"));

	if (r < 0 && r != -ENODATA)
		fail_msg("%s", failure.text);
	json_decref(record);
	return sequence;
}

static struct audit_reader *go_on(const struct place *place, const struct audit_cursor *cursor,
				  uint64_t expected_missing)
{
	struct audit_reader *reader = NULL;
	struct failure failure = {};
	uint64_t missing = 12345;

	if (audit_reader_open_after(place->directory, cursor, &reader, &missing, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(missing, expected_missing);
	return reader;
}

/* Read one by one, each by a new reader. */
static uint64_t read_singly(const struct place *place)
{
	struct audit_cursor cursor = {};

	for (;;) {
		struct audit_reader *reader = go_on(place, &cursor, 0);
		uint64_t sequence = next(reader);

		if (sequence != 0) {
			assert_int_equal(sequence, cursor.sequence + 1);
			audit_reader_position(reader, &cursor);
			assert_int_equal(cursor.sequence, sequence);
			assert_int_equal(strlen(cursor.log), UUID_TEXT_SIZE - 1);
		}
		audit_reader_close(reader);
		if (sequence == 0)
			return cursor.sequence;
	}
}

static void nothing_lost(void **state)
{
	assert_true(read_singly(*state) > RECORDS);
}

static void compressed(void **state)
{
	struct place *place = *state;
	char command[160];

	snprintf(command, sizeof(command), "gzip %s/0*.jsonl", place->directory);
	assert_int_equal(system(command), 0);
	assert_true(read_singly(place) > RECORDS);
}

static void place_of(const struct place *place, uint64_t sequence, struct audit_cursor *ret)
{
	struct audit_reader *reader = go_on(place, &(struct audit_cursor){}, 0);

	while (next(reader) < sequence)
		;
	audit_reader_position(reader, ret);
	audit_reader_close(reader);
}

static void refused(const struct place *place, const struct audit_cursor *cursor, const char *why)
{
	struct audit_reader *reader = NULL;
	struct failure failure = {};
	uint64_t missing;

	assert_int_equal(audit_reader_open_after(place->directory, cursor, &reader, &missing,
						 &failure),
			 -ESTALE);
	if (!strstr(failure.text, why))
		fail_msg("expected \"%s\", not: %s", why, failure.text);
}

static void another_log(void **state)
{
	struct place *place = *state;
	struct audit_cursor cursor, other;

	place_of(place, 20, &cursor);
	other = cursor;
	other.chain[7] ^= 1;
	refused(place, &other, "rewritten");
	other = cursor;
	other.sequence = 4711;
	refused(place, &other, "cut off");
	other = cursor;
	other.log[0] = cursor.log[0] == '1' ? '2' : '1';
	refused(place, &other, "was read");
	/* The control: as it was, it goes on. */
	audit_reader_close(go_on(place, &cursor, 0));
	/* The same records written anew are another log. */
	empty_log(place);
	fill_log(place, RECORDS);
	refused(place, &cursor, "rewritten");
}

static void deleted(void **state)
{
	struct place *place = *state;
	struct audit_cursor cursor;
	struct audit_reader *reader;
	char command[160];

	place_of(place, 2, &cursor);
	snprintf(command, sizeof(command), "rm %s/00000000000000000001.jsonl", place->directory);
	assert_int_equal(system(command), 0);
	reader = NULL;
	{
		struct failure failure = {};
		uint64_t missing = 0, first;

		assert_int_equal(audit_reader_open_after(place->directory, &cursor, &reader,
							 &missing, &failure),
				 0);
		first = next(reader);
		assert_true(first > 3);
		assert_int_equal(missing, first - 3);
	}
	audit_reader_close(reader);
}

static void by_number_alone(void **state)
{
	const struct audit_cursor cursor = {.sequence = 17};
	struct audit_reader *reader = go_on(*state, &cursor, 0);

	assert_int_equal(next(reader), 18);
	audit_reader_close(reader);
}

static void files(void **state)
{
	static const char *const bad[] = {"",
					  "[]",
					  "{}",
					  "{\"log\":\"\",\"seq\":-1,\"chain\":null}",
					  "{\"log\":\"x\",\"seq\":1,\"chain\":null}",
					  "{\"log\":\"\",\"seq\":\"1\",\"chain\":null}",
					  "{\"log\":\"\",\"seq\":1,\"chain\":\"00\"}"};
	struct place *place = *state;
	struct audit_cursor cursor, again;
	json_t *object = NULL;

	assert_int_equal(audit_cursor_load(place->file, &object), -ENOENT);
	place_of(place, 3, &cursor);
	object = audit_cursor_to_json(&cursor);
	assert_int_equal(audit_cursor_save(place->file, object, true), 0);
	json_decref(object);
	assert_int_equal(audit_cursor_load(place->file, &object), 0);
	assert_int_equal(audit_cursor_from_json(object, &again), 0);
	json_decref(object);
	assert_string_equal(again.log, cursor.log);
	assert_int_equal(again.sequence, 3);
	assert_memory_equal(again.chain, cursor.chain, SHA256_SIZE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *file = fopen(place->file, "w");
		int r;

		assert_non_null(file);
		fputs(bad[i], file);
		fclose(file);
		r = audit_cursor_load(place->file, &object);
		if (r == 0) {
			r = audit_cursor_from_json(object, &again);
			json_decref(object);
		}
		assert_int_equal(r, -EBADMSG);
	}
	assert_int_equal(audit_cursor_save("/nowhere/cursor", object = json_object(), false),
			 -ENOENT);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(compressed, setup, teardown),
		cmocka_unit_test_setup_teardown(another_log, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted, setup, teardown),
		cmocka_unit_test_setup_teardown(by_number_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(files, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
