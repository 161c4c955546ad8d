/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are no text, which a record has in Base64 beside what is fit to be read, and names in
 * doubt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "insight/recording/recording.h"

/* Of one denial, the access; its name was in doubt where it says `moved`. */
static const struct recorded_access *take_denial(struct recording *recording, const char *exact,
						 bool moved)
{
	const struct recorded_access *found;
	size_t count;
	json_t *record = json_pack(
		"{s:I, s:{s:s}, s:{s:I}, s:{s:{s:s}, s:s, s:{s:s, s:s, s:s}, s:[s], s:s}}", "seq",
		(json_int_t)1, "event", "action", "denial", "process", "pid", (json_int_t)7,
		"cordon", "execution", "id", "019aa3c4-11d2-7abc-8def-000000000001", "operation",
		"open", "object", "kind", "path", "text", "/srv/\xef\xbf\xbd", "text_base64", exact,
		"rights", "read", "reason", "default");

	assert_non_null(recording);
	assert_non_null(record);
	if (moved)
		json_object_set_new(json_object_get(json_object_get(record, "cordon"), "object"),
				    "moved", json_true());
	assert_int_equal(recording_add(recording, record), 0);
	json_decref(record);
	found = recording_accesses(recording, &count);
	assert_int_equal(count, 1);
	return found;
}

static const struct recorded_access *take(struct recording *recording, const char *exact)
{
	return take_denial(recording, exact, false);
}

static void test_names_that_are_no_text(void **state)
{
	/* Each with another padding. */
	static const struct {
		const char *exact, *bytes;
	} names[] = {
		{"L3Nydi//", "/srv/\xff"},
		{"L3Nydi/+/w==", "/srv/\xfe\xff"},
		{"L3Nydi/+/0E=", "/srv/\xfe\xff"
				 "A"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct recording *recording = recording_new();
		const struct recorded_access *found = take(recording, names[i].exact);

		assert_int_equal(found->kind, ACCESS_PATH);
		assert_int_equal(found->size, strlen(names[i].bytes));
		assert_memory_equal(found->bytes, names[i].bytes, found->size);
		recording_free(recording);
	}
}

static void test_base64_that_is_none(void **state)
{
	static const char *const malformed[] = {"", "=", "==", "!!!!", "L3N", "L3Nyd===="};

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct recording *recording = recording_new();

		assert_int_not_equal(take(recording, malformed[i])->kind, ACCESS_PATH);
		recording_free(recording);
	}
}

/* No policy can be asked about a name that is perhaps none. */
static void test_moved(void **state)
{
	(void)state;
	for (int moved = 0; moved < 2; moved++) {
		struct recording *recording = recording_new();

		assert_int_equal(take_denial(recording, "L3Nydi//", moved)->partial, moved);
		recording_free(recording);
	}
}

/* "/srv/a\0b": what a rename left of two names. */
static void test_torn(void **state)
{
	struct recording *recording = recording_new();

	(void)state;
	assert_true(take_denial(recording, "L3Nydi9hAGI=", false)->partial);
	recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_that_are_no_text),
		cmocka_unit_test(test_base64_that_is_none),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
