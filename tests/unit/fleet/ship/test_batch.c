// SPDX-License-Identifier: Apache-2.0
/* Messages to the fleet's store: what goes into one, how it is named, and what goes ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "fleet/ship/batch.h"
#include "fleet/ship/state.h"

#define HOST "0123456789abcdef0123456789abcdef"
#define LOG  "019aa3c4-11d2-7abc-8def-010203040506"

static void names(void **state)
{
	struct batch batch = {.host = HOST, .log = LOG};
	char subject[BATCH_SUBJECT_SIZE], range[BATCH_RANGE_SIZE];

	(void)state;
	assert_int_equal(batch_add(&batch, UINT64_MAX - 1, "a", 1), 0);
	assert_int_equal(batch_add(&batch, UINT64_MAX, "bc", 2), 0);
	assert_int_equal(batch.lines.size, 5);
	assert_memory_equal(batch.lines.data, "a\nbc\n", 5);
	batch_subject(&batch, subject);
	batch_range(&batch, range);
	assert_string_equal(subject, "cordon.log." HOST "." LOG ".bulk");
	assert_string_equal(range, "18446744073709551614-18446744073709551615");
	batch.lane = BATCH_FIRST;
	batch_clear(&batch);
	assert_int_equal(batch_add(&batch, 7, "a", 1), 0);
	batch_subject(&batch, subject);
	assert_string_equal(subject, "cordon.log." HOST "." LOG ".first");
	batch_release(&batch);
}

/* Who knows log and numbers does not know the id, and the same message has the same one. */
static void ids(void **state)
{
	struct batch batch = {.host = HOST, .log = LOG};
	unsigned char secret[SHA256_SIZE] = {1}, other[SHA256_SIZE] = {2};
	char id[BATCH_ID_SIZE], again[BATCH_ID_SIZE];

	(void)state;
	assert_int_equal(batch_add(&batch, 7, "a", 1), 0);
	assert_int_equal(batch_id(&batch, secret, NULL, id), 0);
	assert_int_equal(strlen(id), 64);
	assert_int_equal(batch_id(&batch, secret, NULL, again), 0);
	assert_string_equal(id, again);
	assert_int_equal(batch_id(&batch, other, NULL, again), 0);
	assert_string_not_equal(id, again);
	batch.lane = BATCH_FIRST;
	assert_int_equal(batch_id(&batch, secret, NULL, again), 0);
	assert_string_not_equal(id, again);
	assert_int_equal(batch_id(&batch, secret, "a run", id), 0);
	assert_string_not_equal(id, again);
	batch.lane = BATCH_BULK;
	batch.last++;
	assert_int_equal(batch_id(&batch, secret, NULL, again), 0);
	assert_string_not_equal(id, again);
	batch_release(&batch);
}

static void bounds(void **state)
{
	struct batch batch = {};
	char *line = calloc(1, BATCH_BYTES_MAX + 1);

	(void)state;
	assert_non_null(line);
	memset(line, 'x', BATCH_BYTES_MAX + 1);
	/* One that is too long for any goes alone. */
	assert_false(batch_is_full(&batch, BATCH_BYTES_MAX + 1));
	assert_int_equal(batch_add(&batch, 1, line, BATCH_BYTES_MAX + 1), 0);
	assert_true(batch_is_full(&batch, 0));
	batch_clear(&batch);
	assert_int_equal(batch_add(&batch, 1, line, BATCH_BYTES_MAX - 3), 0);
	assert_false(batch_is_full(&batch, 1));
	assert_true(batch_is_full(&batch, 2));
	batch_clear(&batch);
	for (unsigned int i = 0; i < BATCH_RECORDS_MAX; i++) {
		assert_false(batch_is_full(&batch, 1));
		assert_int_equal(batch_add(&batch, i + 1, "x", 1), 0);
	}
	assert_true(batch_is_full(&batch, 1));
	batch_release(&batch);
	free(line);
}

static void compressed(void **state)
{
	struct batch batch = {};
	struct buffer packed = {}, again = {};
	char text[64], back[64 * 1000];
	z_stream stream = {};

	(void)state;
	for (unsigned int i = 1; i <= 1000; i++) {
		snprintf(text, sizeof(text), "{\"seq\":%u,\"x\":\"yyyyyyyyyyyyyyyyyyyyyy\"}", i);
		assert_int_equal(batch_add(&batch, i, text, strlen(text)), 0);
	}
	assert_int_equal(batch_compress(&batch.lines, &packed), 0);
	assert_true(packed.size < batch.lines.size / 4);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (unsigned char *)packed.data;
	stream.avail_in = (uInt)packed.size;
	stream.next_out = (unsigned char *)back;
	stream.avail_out = sizeof(back);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, batch.lines.size);
	assert_memory_equal(back, batch.lines.data, batch.lines.size);
	inflateEnd(&stream);
	/* The same lines make the same message, whoever sends them. */
	assert_int_equal(batch_compress(&batch.lines, &again), 0);
	assert_int_equal(again.size, packed.size);
	assert_memory_equal(again.data, packed.data, packed.size);
	buffer_free(&packed);
	buffer_free(&again);
	batch_release(&batch);
}

static bool goes_first(const char *action, const char *rest)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "{\"seq\":12345678901234567890,\"@timestamp\":\"2026-11-21T00:00:00.000000000Z\","
		 "\"event\":{\"kind\":\"event\",\"action\":\"%s\"%s",
		 action, rest);
	return batch_line_goes_first(line, strlen(line));
}

static void ahead(void **state)
{
	static const char *const first[] = {"denial", "attempt",  "execution-end",  "gap",
					    "seal",   "identity", "agent-heartbeat"};
	static const char *const others[] = {
		"would-deny", "execution-start", "process-exec", "denials", "gaps", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		assert_true(goes_first(first[i], ",\"outcome\":\"failure\"}}"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(goes_first(others[i], ",\"outcome\":\"failure\"}}"));
	/* What somebody chose to call himself changes nothing. */
	assert_false(goes_first("process-exec", ",\"outcome\":\"success\"},\"process\":{\"name\":"
						"\"\\\"action\\\":\\\"denial\\\"\"}}"));
	assert_false(batch_line_goes_first("", 0));
	assert_false(batch_line_goes_first("\"action\":\"denial", 16));
}

static bool makes_urgent(const char *action)
{
	struct batch batch = {};
	char line[256];
	bool urgent;

	snprintf(line, sizeof(line),
		 "{\"seq\":1,\"@timestamp\":\"t\",\"event\":{\"action\":\"%s\"}}", action);
	assert_int_equal(batch_add(&batch, 1, line, strlen(line)), 0);
	/* What comes behind it does not take that back; another message begins anew. */
	assert_int_equal(batch_add(&batch, 2, "{}", 2), 0);
	urgent = batch.urgent;
	batch_clear(&batch);
	assert_false(batch.urgent);
	batch_release(&batch);
	return urgent;
}

static void urgent(void **state)
{
	static const char *const yes[] = {"denial", "attempt", "gap"};
	static const char *const no[] = {"seal", "agent-heartbeat", "execution-end", "identity",
					 "process-exec"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(makes_urgent(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(makes_urgent(no[i]));
}

static void states(void **state)
{
	static const char *const bad[] = {
		"[]", "{\"log\":\"\",\"seq\":1,\"chain\":null,\"first\":-1}",
		"{\"log\":\"\",\"seq\":1,\"chain\":null,\"sending\":\"2\"}"};
	struct ship_state saved = {.acknowledged = {.log = LOG, .sequence = 17, .known = true},
				   .sending = 20,
				   .first = 23};
	char directory[] = "/tmp/cordon-state-XXXXXX", path[64], recent[80];
	struct ship_state loaded;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/state.json", directory);
	assert_int_equal(ship_state_load(path, &loaded), -ENOENT);
	assert_int_equal(loaded.acknowledged.sequence, 0);
	memset(saved.acknowledged.chain, 0x5a, SHA256_SIZE);
	assert_int_equal(ship_state_save(path, &saved, true), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_memory_equal(&loaded.acknowledged.chain, &saved.acknowledged.chain, SHA256_SIZE);
	assert_string_equal(loaded.acknowledged.log, LOG);
	assert_int_equal(loaded.acknowledged.sequence, 17);
	assert_int_equal(loaded.sending, 20);
	assert_int_equal(loaded.first, 23);
	/* The second file counts where it goes beyond the first, and only there. */
	saved.acknowledged.sequence = 30;
	assert_int_equal(ship_state_save(path, &saved, false), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.acknowledged.sequence, 30);
	saved.acknowledged.sequence = 40;
	assert_int_equal(ship_state_save(path, &saved, true), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.acknowledged.sequence, 40);
	saved.sending = 44;
	assert_int_equal(ship_state_save(path, &saved, false), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.sending, 44);
	saved.sending = 33;
	assert_int_equal(ship_state_save(path, &saved, false), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.sending, 33);
	saved.sending = 44;
	assert_int_equal(ship_state_save(path, &saved, true), 0);
	saved.sending = 0;
	assert_int_equal(ship_state_save(path, &saved, false), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.sending, 44);
	saved.acknowledged.chain[0] ^= 1;
	saved.sending = 55;
	assert_int_equal(ship_state_save(path, &saved, false), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.sending, 44);
	snprintf(recent, sizeof(recent), "%s" SHIP_STATE_RECENT, path);
	assert_int_equal(truncate(recent, 5), 0);
	assert_int_equal(ship_state_load(path, &loaded), 0);
	assert_int_equal(loaded.acknowledged.sequence, 40);
	unlink(recent);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fputs(bad[i], file);
		fclose(file);
		assert_int_equal(ship_state_load(path, &loaded), -EBADMSG);
	}
	unlink(path);
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),      cmocka_unit_test(ids),   cmocka_unit_test(bounds),
		cmocka_unit_test(compressed), cmocka_unit_test(ahead), cmocka_unit_test(urgent),
		cmocka_unit_test(states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
