/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a shipper still needs is not deleted, up to a bound, and what goes beyond it is on record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/read/reader.h"
#include "audit/record/identity.h"
#include "audit/storage/segments.h"
#include "audit/write/log.h"
#include "tests/unit/audit/schema_check.h"

#define RECORDS 60u

static char parent[] = "/tmp/cordon-retention-XXXXXX";
static char directory[64], identity_text[IDENTITY_TEXT_MAX];

static int setup(void **state)
{
	struct identity identity;

	(void)state;
	if (!mkdtemp(parent))
		return -1;
	snprintf(directory, sizeof(directory), "%s/log", parent);
	identity_of_host(&identity);
	identity.version = "1";
	return identity_format(&identity, identity_text);
}

static void empty(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

static int teardown(void **state)
{
	(void)state;
	empty();
	return rmdir(parent);
}

static struct audit_log *open_log(uint64_t bound)
{
	/* Three closed segments stay, of a handful of records each. */
	const struct audit_log_options options = {
		.segment_bytes = 1500,
		.keep_segments = 3,
		.keep_unshipped = bound,
		.identity = identity_text,
	};
	struct failure failure = {};
	struct audit_log *log = NULL;
	uint64_t repaired;

	if (audit_log_open(directory, &options, &log, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	return log;
}

static void append(struct audit_log *log, unsigned int records)
{
	for (unsigned int i = 0; i < records; i++) {
		json_t *record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i}}", "@timestamp",
					   "2026-11-21T00:00:00.000000000Z", "event", "kind",
					   "event", "action", "approval", "outcome", "success",
					   "cordon", "schema", 1);

		assert_non_null(record);
		assert_int_equal(audit_log_append(log, record), 0);
		json_decref(record);
		assert_int_equal(audit_log_flush(log, false), 0);
		(void)audit_log_tick(log);
	}
}

/* The first record that is there still. */
static uint64_t first_left(void)
{
	struct segments segments;
	uint64_t first;

	assert_int_equal(segments_list(directory, &segments), 0);
	assert_true(segments.count > 0);
	first = segments.entries[0].first;
	segments_free(&segments);
	return first;
}

/* What the last retention record says; each fits the schema. */
static void read_retention(uint64_t *ret_last, uint64_t *ret_unshipped)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	json_t *record, *schema = json_load_file("docs/audit.schema.json", 0, NULL);
	struct schema_check check = {.root = schema};
	struct failure failure = {};
	int r;

	assert_non_null(schema);
	*ret_last = *ret_unshipped = 0;
	assert_int_equal(audit_reader_open(directory, &reader, &failure), 0);
	while ((r = audit_reader_next(reader, &record, &failure)) == 0) {
		const json_t *retention =
			json_object_get(json_object_get(record, "cordon"), "retention");

		if (retention && !schema_valid(&check, schema, record, "record"))
			fail_msg("%s", check.error);
		if (retention) {
			*ret_last =
				(uint64_t)json_integer_value(json_object_get(retention, "last"));
			*ret_unshipped = (uint64_t)json_integer_value(
				json_object_get(retention, "unshipped"));
		}
		json_decref(record);
	}
	if (r != -ENODATA)
		fail_msg("%s", failure.text);
	json_decref(schema);
}

/* A log of RECORDS records with this bound and shipper. Returns the first that is left. */
static uint64_t keep(uint64_t bound, const struct audit_log_shipped *shipped)
{
	struct audit_log *log;

	empty();
	log = open_log(bound);
	audit_log_note_shipped(log, shipped);
	append(log, RECORDS);
	audit_log_close(log);
	return first_left();
}

static void nobody_ships(void **state)
{
	const struct audit_log_shipped nobody = {};
	uint64_t last, unshipped;

	(void)state;
	assert_true(keep(1 << 20, &nobody) > RECORDS / 2);
	read_retention(&last, &unshipped);
	assert_true(last > RECORDS / 2);
	assert_int_equal(unshipped, 0);
}

static void nothing_shipped(void **state)
{
	const struct audit_log_shipped none = {.known = true};
	uint64_t last, unshipped;

	(void)state;
	assert_int_equal(keep(1 << 20, &none), 1);
	read_retention(&last, &unshipped);
	assert_int_equal(last, 0);
	/* Where retention is not to wait, it does not, and takes no shipper into account. */
	assert_true(keep(0, &none) > RECORDS / 2);
	read_retention(&last, &unshipped);
	assert_true(last > RECORDS / 2);
	assert_int_equal(unshipped, 0);
}

/* Of another log it says nothing, and a log that nobody ships has no reason to wait. */
static void another_log(void **state)
{
	const struct audit_log_shipped other = {
		.known = true,
		.log = "01a2013c-58d6-7f6f-8e64-000000000001",
		.sequence = 1,
	};

	(void)state;
	assert_true(keep(1 << 20, &other) > RECORDS / 2);
}

static void beyond_the_bound(void **state)
{
	const struct audit_log_shipped none = {.known = true}, nobody = {};
	uint64_t last, unshipped, unhindered = keep(1 << 20, &nobody), first;

	(void)state;
	first = keep(10000, &none);
	assert_in_range(first, 2, unhindered - 1);
	read_retention(&last, &unshipped);
	assert_int_equal(last, first - 1);
	/* One record, one segment: that of the last one, which held so many. */
	assert_in_range(unshipped, 1, last);
}

/* What was shipped goes, what was not stays, and goes when it was. */
static void shipped_meanwhile(void **state)
{
	struct audit_log_shipped shipped = {.known = true};
	struct audit_log_position position;
	struct audit_log *log;
	uint64_t last, unshipped;

	(void)state;
	empty();
	log = open_log(1 << 20);
	append(log, 1);
	audit_log_position(log, &position);
	memcpy(shipped.log, position.id, sizeof(shipped.log));
	shipped.sequence = 20;
	audit_log_note_shipped(log, &shipped);
	append(log, RECORDS);
	/* Record 21 is there, and nothing that ends before it. */
	assert_in_range(first_left(), 15, 21);
	shipped.sequence = 40;
	audit_log_note_shipped(log, &shipped);
	(void)audit_log_tick(log);
	assert_in_range(first_left(), 34, 41);
	audit_log_close(log);
	read_retention(&last, &unshipped);
	assert_in_range(last, 33, 40);
	assert_int_equal(unshipped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_ships),	     cmocka_unit_test(nothing_shipped),
		cmocka_unit_test(another_log),	     cmocka_unit_test(beyond_the_bound),
		cmocka_unit_test(shipped_meanwhile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
