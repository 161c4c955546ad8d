/* SPDX-License-Identifier: Apache-2.0 */
/* What is believed of a shipper's word, and until when it holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/store/presence.h"

#define SUBJECT "cordon.presence.5c04cde4a12c886ff55ccaac34f5aebf"
#define LOG	"01a2013c-58d6-7f6f-8e64-000000000001"
#define WORD(state, daemon, rest)                                                                  \
	"{\"state\":\"" state "\",\"daemon\":\"" daemon "\",\"log\":\"" LOG "\"" rest "}"
#define REST ",\"read\":1300,\"acknowledged\":1204,\"interval\":15"

static int parse(const char *subject, const char *text, struct presence *presence)
{
	struct failure failure = {};
	int r = presence_read(subject, text, strlen(text), presence, &failure);

	assert_int_equal(r < 0, failure.text[0] != '\0');
	return r;
}

static void words(void **state)
{
	struct presence presence;

	(void)state;
	assert_int_equal(parse(SUBJECT, WORD("shipping", "killed", REST), &presence), 0);
	assert_string_equal(presence.host, "5c04cde4a12c886ff55ccaac34f5aebf");
	assert_string_equal(presence.log, LOG);
	assert_int_equal(presence.state, PRESENCE_SHIPPING);
	assert_int_equal(presence.daemon, PRESENCE_KILLED);
	assert_int_equal(presence.acknowledged, 1204);
	assert_int_equal(presence.every, 15 * NSEC_PER_SEC);
	assert_int_equal(parse(SUBJECT, WORD("leaving", "running", REST), &presence), 0);
	assert_int_equal(presence.state, PRESENCE_LEAVING);
	assert_int_equal(parse(SUBJECT, WORD("rewritten", "stopped", REST), &presence), 0);
	assert_int_equal(presence.state, PRESENCE_REWRITTEN);
	assert_int_equal(presence.daemon, PRESENCE_STOPPED);
}

static void refused(void **state)
{
	static const char *const subjects[] = {
		"cordon.presence.",
		"cordon.presence",
		"cordon.presence.host",
		"cordon.presence.5c-04",
		"cordon.presence.5c.04",
		"cordon.here.5c04",
		"cordon.presence.../../etc",
		"cordon.presence.55555555555555555555555555555555555555555555555555555555555555555",
	};
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		WORD("", "killed", REST),
		WORD("here", "killed", REST),
		WORD("shipping", "", REST),
		WORD("shipping", "fine", REST),
		WORD("shipping", "killed", ""),
		WORD("shipping", "killed", ",\"acknowledged\":-1,\"interval\":15"),
		WORD("shipping", "killed", ",\"acknowledged\":\"1\",\"interval\":15"),
		WORD("shipping", "killed", ",\"acknowledged\":1"),
		WORD("shipping", "killed", ",\"acknowledged\":1,\"interval\":0"),
		WORD("shipping", "killed", ",\"acknowledged\":1,\"interval\":3601"),
		WORD("shipping", "killed", REST ",\"log\":\"" LOG "\""),
		"{\"state\":\"shipping\",\"daemon\":\"killed\",\"log\":\"../x\"" REST "}",
		"{\"state\":\"shipping\",\"daemon\":\"killed\"" REST "}",
	};
	struct presence presence = {.acknowledged = 7};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
		assert_int_equal(parse(subjects[i], WORD("shipping", "killed", REST), &presence),
				 -EBADMSG);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(parse(SUBJECT, texts[i], &presence), -EBADMSG);
	/* Written on success only. */
	assert_int_equal(presence.acknowledged, 7);
}

static void freshness(void **state)
{
	struct presence presence = {.state = PRESENCE_SHIPPING, .every = 10, .at = 1000};

	(void)state;
	assert_true(presence_is_fresh(&presence, 900));
	assert_true(presence_is_fresh(&presence, 1030));
	assert_false(presence_is_fresh(&presence, 1031));
	presence.state = PRESENCE_UNKNOWN;
	assert_false(presence_is_fresh(&presence, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(refused),
		cmocka_unit_test(freshness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
