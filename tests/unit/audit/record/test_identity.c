// SPDX-License-Identifier: Apache-2.0
/* The record at the head of each segment, and what it discloses of the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/record/identity.h"

#define MACHINE "0123456789abcdef0123456789abcdef"
#define LOG	"019aa3c4-11d2-7abc-8def-010203040506"
#define TIME	"2026-11-25T00:00:00.000000000Z"
#define CHAIN	"0000000000000000000000000000000000000000000000000000000000000000"

static void host_ids(void **state)
{
	char id[IDENTITY_HOST_SIZE], again[IDENTITY_HOST_SIZE];

	(void)state;
	assert_int_equal(identity_host_id(MACHINE "\n", id), 0);
	assert_int_equal(identity_host_id(MACHINE, again), 0);
	assert_string_equal(id, again);
	assert_null(strstr(MACHINE, id));
	/*
	 * As systemd-id128 makes it: HMAC-SHA256 under the machine id, marked as a UUID of version
	 * 4.
	 */
	assert_string_equal(id, "0fb7acf2f3924376a384cdc090f2b560");
	assert_int_equal(identity_host_id("fedcba98765432100123456789abcdef\n", again), 0);
	assert_string_not_equal(id, again);
	assert_int_equal(identity_host_id("uninitialized\n", id), -EINVAL);
	assert_int_equal(identity_host_id("", id), -EINVAL);
	assert_int_equal(identity_host_id(MACHINE "0\n", id), -EINVAL);
	assert_int_equal(identity_host_id("0123456789abcdef0123456789abcdeg", id), -EINVAL);
}

static struct identity sample(void)
{
	static const char *const labels[] = {"role", "web", "odd", "a\"b\xc3\xa9", NULL};
	struct identity identity = {
		.name = "web-7", .version = "1", .tenant = "acme", .labels = labels};

	assert_int_equal(identity_host_id(MACHINE, identity.host), 0);
	return identity;
}

static void format_line(char *line, size_t size, const struct identity *identity)
{
	char text[IDENTITY_TEXT_MAX], record[IDENTITY_LINE_MAX];
	json_t *parsed;

	assert_int_equal(identity_format(identity, text), 0);
	identity_record(text, LOG, TIME, record);
	parsed = json_loads(record, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(parsed);
	json_decref(parsed);
	/* As the log's writer makes a line of it. */
	record[strlen(record) - 1] = '\0';
	snprintf(line, size, "{\"seq\":12345,%s,\"chain\":\"%s\"}", record + 1, CHAIN);
}

static void records(void **state)
{
	char line[IDENTITY_LINE_MAX + 128], log[UUID_TEXT_SIZE], text[IDENTITY_TEXT_MAX];
	struct identity identity = sample(), other = sample();
	const char *found;
	size_t size;

	(void)state;
	format_line(line, sizeof(line), &identity);
	assert_int_equal(identity_format(&identity, text), 0);
	assert_true(identity_of_line(line, strlen(line), log, &found, &size));
	assert_string_equal(log, LOG);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(found, text, size);
	/* What changes shows. */
	strcpy(other.boot, LOG);
	assert_int_equal(identity_format(&other, text), 0);
	assert_true(size != strlen(text) || memcmp(found, text, size) != 0);
}

static void nothing_known(void **state)
{
	char line[IDENTITY_LINE_MAX + 128], log[UUID_TEXT_SIZE];
	const struct identity identity = {.version = "1"};

	(void)state;
	format_line(line, sizeof(line), &identity);
	assert_non_null(strstr(line, "\"host\":{\"id\":null,\"name\":null"));
	assert_true(identity_of_line(line, strlen(line), log, NULL, NULL));
}

/* Whatever is cut off or put elsewhere, nothing is read that is not there. */
static void other_lines(void **state)
{
	char line[IDENTITY_LINE_MAX + 128], log[UUID_TEXT_SIZE];
	struct identity identity = sample();
	size_t size;

	(void)state;
	format_line(line, sizeof(line), &identity);
	size = strlen(line);
	for (size_t i = 0; i < size; i++) {
		char *piece = malloc(i ? i : 1);

		assert_non_null(piece);
		memcpy(piece, line, i);
		assert_false(identity_of_line(piece, i, log, NULL, NULL));
		free(piece);
	}
	*strstr(line, "identity") = 'I';
	assert_false(identity_of_line(line, size, log, NULL, NULL));
}

static void too_long(void **state)
{
	static const char *labels[2 * 64 + 1];
	struct identity identity = sample();
	char value[64], text[IDENTITY_TEXT_MAX], names[64][8];

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		labels[2 * i] = names[i];
		labels[2 * i + 1] = value;
	}
	identity.labels = labels;
	assert_int_equal(identity_format(&identity, text), -EMSGSIZE);
}

static void this_host(void **state)
{
	struct identity identity;

	(void)state;
	identity_of_host(&identity);
	assert_true(identity.name[0] && identity.kernel[0] && identity.boot[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_ids),	 cmocka_unit_test(records),
		cmocka_unit_test(nothing_known), cmocka_unit_test(other_lines),
		cmocka_unit_test(too_long),	 cmocka_unit_test(this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
