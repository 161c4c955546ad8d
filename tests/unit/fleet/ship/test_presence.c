/* SPDX-License-Identifier: Apache-2.0 */
/* What a shipper sees of the daemon by its log alone, and says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "audit/write/log.h"
#include "fleet/ship/feed.h"
#include "fleet/ship/presence.h"

static char directory[64];

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/cordon-presence-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static struct audit_log *open_log(const char *identity)
{
	struct audit_log_options options = AUDIT_LOG_DEFAULTS;
	json_t *record = json_pack("{s:s}", "@timestamp", "2026-11-25T00:00:00.000000000Z");
	struct failure failure = {};
	struct audit_log *log;
	uint64_t repaired;

	options.identity = identity;
	if (audit_log_open(directory, &options, &log, &repaired, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(audit_log_append(log, record), 0);
	assert_int_equal(audit_log_flush(log, true), 0);
	json_decref(record);
	return log;
}

static void daemons(void **state)
{
	struct audit_log *log;
	pid_t child;

	(void)state;
	/* There was none yet. */
	assert_int_equal(presence_look(directory), PRESENCE_STOPPED);
	log = open_log(NULL);
	assert_int_equal(presence_look(directory), PRESENCE_RUNNING);
	audit_log_close(log);
	assert_int_equal(presence_look(directory), PRESENCE_STOPPED);
	child = fork();
	if (child == 0) {
		(void)open_log(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(presence_look(directory), PRESENCE_KILLED);
	log = open_log(NULL);
	assert_int_equal(presence_look(directory), PRESENCE_RUNNING);
	audit_log_close(log);
}

static void identities(void **state)
{
	struct identity identity = {.host = "5c04cde4a12c886ff55ccaac34f5aebf", .version = "1"};
	char text[IDENTITY_TEXT_MAX], host[IDENTITY_HOST_SIZE] = "", log[UUID_TEXT_SIZE] = "";

	(void)state;
	assert_false(feed_identity(directory, host, log));
	audit_log_close(open_log(NULL));
	assert_false(feed_identity(directory, host, log));
	assert_int_equal(identity_format(&identity, text), 0);
	audit_log_close(open_log(text));
	assert_true(feed_identity(directory, host, log));
	assert_string_equal(host, identity.host);
	assert_int_equal(strlen(log), UUID_TEXT_SIZE - 1);
}

static void texts(void **state)
{
	struct presence presence = {.host = "5c04",
				    .log = "01a2013c-58d6-7f6f-8e64-000000000001",
				    .every = PRESENCE_SECONDS_MAX,
				    .read = 18446744073709551615ull,
				    .acknowledged = 18446744073709551615ull};
	char subject[PRESENCE_SUBJECT_SIZE], text[PRESENCE_TEXT_SIZE];
	json_t *object;

	(void)state;
	presence_subject(&presence, subject);
	assert_string_equal(subject, "cordon.presence.5c04");
	presence_here(&presence, subject);
	assert_string_equal(subject, "cordon.here.5c04");
	for (unsigned int i = PRESENCE_SHIPPING; i <= PRESENCE_REWRITTEN; i++) {
		presence.state = i;
		presence.daemon = i;
		presence_text(&presence, text);
		assert_true(strlen(text) < sizeof(text) - 1);
		presence.read = presence.acknowledged = 41 + i;
	}
	object = json_loads(text, 0, NULL);
	assert_non_null(object);
	assert_string_equal(json_string_value(json_object_get(object, "state")), "rewritten");
	assert_string_equal(json_string_value(json_object_get(object, "daemon")), "killed");
	assert_int_equal(json_integer_value(json_object_get(object, "acknowledged")), 42);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(daemons, setup, teardown),
		cmocka_unit_test_setup_teardown(identities, setup, teardown),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
