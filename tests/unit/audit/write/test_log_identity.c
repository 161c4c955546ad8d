// SPDX-License-Identifier: Apache-2.0
/* A log says at the head of each segment which host and log it is of. */
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
#include "audit/storage/segment.h"
#include "audit/write/log.h"
#include "tests/unit/audit/schema_check.h"

struct place {
	char parent[64];
	char directory[96];
	char identity[IDENTITY_TEXT_MAX];
	struct audit_log_options options;
};

static void say_identity(struct place *place, const char *tenant)
{
	struct identity identity;

	identity_of_host(&identity);
	identity.version = "1";
	identity.tenant = tenant;
	assert_int_equal(identity_format(&identity, place->identity), 0);
}

static int setup(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	strcpy(place->parent, "/tmp/cordon-identity-XXXXXX");
	assert_non_null(mkdtemp(place->parent));
	snprintf(place->directory, sizeof(place->directory), "%s/log", place->parent);
	say_identity(place, "acme");
	place->options.identity = place->identity;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", place->parent);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

static struct audit_log *open_log(const struct place *place)
{
	struct failure failure = {};
	struct audit_log *log = NULL;
	uint64_t repaired;

	if (audit_log_open(place->directory, &place->options, &log, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	return log;
}

static void append(struct audit_log *log)
{
	json_t *record = json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:i}}", "@timestamp",
				   "2026-11-21T00:00:00.000000000Z", "event", "kind", "event",
				   "action", "approval", "outcome", "success", "cordon", "schema",
				   1);

	assert_non_null(record);
	assert_int_equal(audit_log_append(log, record), 0);
	json_decref(record);
	assert_int_equal(audit_log_flush(log, false), 0);
}

static json_t *read_all(const char *directory)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	json_t *all = json_array(), *record;
	struct failure failure = {};
	int r;

	assert_int_equal(audit_reader_open(directory, &reader, &failure), 0);
	while ((r = audit_reader_next(reader, &record, &failure)) == 0)
		json_array_append_new(all, record);
	if (r != -ENODATA)
		fail_msg("%s", failure.text);
	return all;
}

static const char *action(const json_t *records, size_t i)
{
	return json_string_value(
		json_object_get(json_object_get(json_array_get(records, i), "event"), "action"));
}

static const char *identity_member(const json_t *records, size_t i, const char *name)
{
	const json_t *cordon = json_object_get(json_array_get(records, i), "cordon");

	return json_string_value(json_object_get(json_object_get(cordon, "identity"), name));
}

/* The actions in order: I for identity, A for approval, G for gap, ... */
static void expect(const json_t *records, const char *actions)
{
	char found[64] = "";

	for (size_t i = 0; i < json_array_size(records) && i < sizeof(found) - 1; i++)
		found[i] = (char)(action(records, i)[0] - 'a' + 'A');
	assert_string_equal(found, actions);
}

static void first_record(void **state)
{
	struct place *place = *state;
	struct schema_check check = {};
	struct audit_log *log = open_log(place);
	json_t *records, *schema;

	append(log);
	append(log);
	audit_log_close(log);
	/* Opened again by the same: it says nothing twice. */
	log = open_log(place);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "IAAA");
	assert_string_equal(identity_member(records, 0, "tenant"), "acme");
	schema = json_load_file("docs/audit.schema.json", 0, NULL);
	assert_non_null(schema);
	check.root = schema;
	if (!schema_valid(&check, schema, json_array_get(records, 0), "record"))
		fail_msg("%s", check.error);
	json_decref(schema);
	json_decref(records);
}

static void each_segment(void **state)
{
	struct place *place = *state;
	struct audit_log *log;
	json_t *records;

	place->options.segment_bytes = 1;
	log = open_log(place);
	append(log);
	append(log);
	append(log);
	audit_log_close(log);
	/* The segment at hand has no records: its log is known from the one before. */
	log = open_log(place);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "IAIAIAIA");
	for (size_t i = 2; i < 8; i += 2)
		assert_string_equal(identity_member(records, i, "log"),
				    identity_member(records, 0, "log"));
	json_decref(records);
}

static void another_identity(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place);
	char closed[128];
	json_t *records;

	append(log);
	audit_log_close(log);
	say_identity(place, "other");
	log = open_log(place);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "IAIA");
	assert_string_equal(identity_member(records, 2, "tenant"), "other");
	assert_string_equal(identity_member(records, 2, "log"), identity_member(records, 0, "log"));
	json_decref(records);
	snprintf(closed, sizeof(closed), "%s/00000000000000000001.jsonl", place->directory);
	assert_int_equal(access(closed, F_OK), 0);
}

/* Of an earlier build, which says nothing of its host. */
static void older_log(void **state)
{
	struct place *place = *state;
	struct audit_log *log;
	json_t *records;

	place->options.identity = NULL;
	log = open_log(place);
	append(log);
	audit_log_close(log);
	place->options.identity = place->identity;
	log = open_log(place);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "AIA");
	assert_non_null(identity_member(records, 1, "log"));
	json_decref(records);
}

static void moved_away(void **state)
{
	struct place *place = *state;
	struct audit_log *log = open_log(place);
	char from[160], to[160], id[UUID_TEXT_SIZE];
	json_t *records;

	append(log);
	snprintf(from, sizeof(from), "%s/%s", place->directory, SEGMENT_NAME);
	snprintf(to, sizeof(to), "%s/away", place->parent);
	records = read_all(place->directory);
	snprintf(id, sizeof(id), "%s", identity_member(records, 0, "log"));
	json_decref(records);
	assert_int_equal(rename(from, to), 0);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "GIA");
	assert_string_equal(identity_member(records, 1, "log"), id);
	json_decref(records);
}

static void goes_on_elsewhere(void **state)
{
	struct place *place = *state;
	struct audit_log_position position;
	struct audit_log *log = open_log(place);
	json_t *records;

	append(log);
	audit_log_position(log, &position);
	assert_int_equal(strlen(position.id), UUID_TEXT_SIZE - 1);
	audit_log_close(log);
	snprintf(place->directory, sizeof(place->directory), "%s/other", place->parent);
	log = open_log(place);
	assert_int_equal(audit_log_continue(log, &position), 0);
	append(log);
	audit_log_close(log);
	records = read_all(place->directory);
	expect(records, "GIA");
	assert_string_equal(identity_member(records, 1, "log"), position.id);
	json_decref(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_record, setup, teardown),
		cmocka_unit_test_setup_teardown(each_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(another_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(older_log, setup, teardown),
		cmocka_unit_test_setup_teardown(moved_away, setup, teardown),
		cmocka_unit_test_setup_teardown(goes_on_elsewhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
