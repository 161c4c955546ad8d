/* SPDX-License-Identifier: Apache-2.0 */
/* An execution and its events, of which records are made, and how a record is looked at. */
#ifndef CORDON_TEST_EXAMPLE_EXECUTION_H
#define CORDON_TEST_EXAMPLE_EXECUTION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/socket.h>

#include "audit/record/traffic.h"
#include "audit/record/approval.h"
#include "audit/record/record.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "tests/unit/audit/fixture.h"
#include "insight/text/view.h"
#include "tests/unit/audit/schema_check.h"

static json_t *schema;

static int load_schema(void **state)
{
	json_error_t error;

	(void)state;
	schema = json_load_file("docs/audit.schema.json", JSON_REJECT_DUPLICATES, &error);
	if (!schema)
		fail_msg("docs/audit.schema.json: line %d: %s", error.line, error.text);
	return 0;
}

static int drop_schema(void **state)
{
	(void)state;
	json_decref(schema);
	return 0;
}

/* As it would stand in a log. */
static bool is_valid(const json_t *record, char error[512])
{
	struct schema_check check = {.root = schema};
	json_t *line = json_deep_copy(record);
	bool valid;

	json_object_set_new(line, "seq", json_integer(1));
	json_object_set_new(line, "chain",
			    json_string("00000000000000000000000000000000"
					"00000000000000000000000000000000"));
	valid = schema_valid(&check, schema, line, "record");
	json_decref(line);
	memcpy(error, check.error, 512);
	return valid;
}

static json_t *checked(json_t *record)
{
	char error[512];

	assert_non_null(record);
	if (!is_valid(record, error)) {
		char *text = json_dumps(record, JSON_INDENT(1));

		print_message("%s\n", text);
		free(text);
		fail_msg("%s", error);
	}
	return record;
}

static void assert_text(const json_t *record, const char *name, const char *expected)
{
	const char *text = view_text(record, name);

	if (!text)
		fail_msg("%s is missing", name);
	assert_string_equal(text, expected);
}

static void assert_number(const json_t *record, const char *name, uint64_t expected)
{
	assert_true(view_has_number(record, name));
	assert_int_equal(view_number(record, name), expected);
}

static void assert_null_field(const json_t *record, const char *name)
{
	assert_true(json_is_null(view_field(record, name)));
}

#endif
