/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of hosts that are complete, silent, lacking or unheard of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fleet/ask/completeness.h"

#define NOW (1763683200ull * NSEC_PER_SEC) /* 2025-11-21T00:00:00Z */

static const struct completeness at_now = {.now = NOW, .silent_after = 180 * NSEC_PER_SEC};

static struct completeness_host heard(const char *name, unsigned int seconds)
{
	return (struct completeness_host){
		.host = (char *)"5c04cde4a12c886ff55ccaac34f5aebf",
		.name = (char *)name,
		.last_heard = NOW - seconds * NSEC_PER_SEC,
	};
}

static void missing_between(void **state)
{
	const struct completeness_range ranges[] = {{12, 14}, {13, 20}, {30, 30}, {31, 40}, {5, 6}};
	uint64_t highest;

	(void)state;
	assert_int_equal(completeness_missing(10, ranges, 0, &highest), 0);
	assert_int_equal(highest, 10);
	assert_int_equal(completeness_missing(10, ranges, 1, &highest), 1);
	assert_int_equal(completeness_missing(10, ranges, 2, &highest), 1);
	assert_int_equal(highest, 20);
	assert_int_equal(completeness_missing(10, ranges, 5, &highest), 1 + 9);
	assert_int_equal(highest, 40);
	/* What is known anyway is no hole. */
	assert_int_equal(completeness_missing(40, ranges, 5, NULL), 0);
	assert_int_equal(completeness_missing(0, (struct completeness_range[]){{1, 3}}, 1, NULL),
			 0);
	assert_int_equal(
		completeness_missing(0, (struct completeness_range[]){{UINT64_MAX, UINT64_MAX}}, 1,
				     NULL),
		UINT64_MAX - 1);
}

static void expect(const struct completeness_host *hosts, size_t count, const char *expected)
{
	_cleanup_(freep) char *text = completeness_text(&at_now, hosts, count);

	assert_string_equal(text, expected);
}

static void texts(void **state)
{
	struct completeness_host hosts[4] = {heard("web-1", 40), heard("web-2", 3),
					     heard("db-2", 5), heard(NULL, 1)};

	(void)state;
	expect(NULL, 0, "0 of 0 hosts complete");
	expect(hosts, 1, "1 of 1 host complete to 40 s ago");
	expect(hosts, 2, "2 of 2 hosts complete to 40 s ago");
	hosts[2].missing = 1204;
	expect(hosts, 3, "2 of 3 hosts complete to 40 s ago; db-2 lacks 1,204 records");
	hosts[1] = heard("web-7", 3 * 3600);
	hosts[2].missing = 1;
	expect(hosts, 3,
	       "1 of 3 hosts complete to 40 s ago; web-7 silent since 21:00; db-2 lacks 1 record");
	strcpy(hosts[1].last_action, "agent-stop");
	hosts[1].last_heard = NOW - 3 * 86400 * NSEC_PER_SEC;
	expect(hosts, 2,
	       "1 of 2 hosts complete to 40 s ago; web-7 silent since 2025-11-18 00:00: daemon stopped in order");
	hosts[3].apart = 2;
	expect(hosts + 3, 1,
	       "1 of 1 host complete to 1 s ago; 5c04cde4a12c has 2 deliveries kept apart");
	hosts[3].apart = 0;
	hosts[3].ahead = (int64_t)(3600 * NSEC_PER_SEC);
	hosts[3].two_grow = true;
	expect(hosts + 3, 1,
	       "1 of 1 host complete to 1 s ago; 5c04cde4a12c has a clock that is 60 min ahead; "
	       "5c04cde4a12c has two logs that grow at once (two hosts with one machine-id?)");
	hosts[3] = (struct completeness_host){
		.host = (char *)"5c04cde4", .expected = (char *)"mail-1", .never_heard = true};
	expect(hosts + 3, 1, "0 of 1 host complete; mail-1 never heard of");
	hosts[3].expected = NULL;
	expect(hosts + 3, 1, "0 of 1 host complete; 5c04cde4 never heard of");
}

static void what_one_host_causes(void **state)
{
	struct completeness_host host = heard("web-1", 1);

	(void)state;
	host.missing = 10;
	host.waiting = 1041;
	expect(&host, 1,
	       "0 of 1 host complete; web-1 lacks 10 records, and no chain covers the 1,041 behind them");
	host.missing = 0;
	expect(&host, 1, "0 of 1 host complete; web-1 has 1,041 records that no chain covers");
	host.waiting = 0;
	host.gone = 10;
	expect(&host, 1, "1 of 1 host complete to 1 s ago; web-1 has given up 10 records");
	host.gone = 0;
	host.later = 1;
	expect(&host, 1,
	       "0 of 1 host complete; web-1 has 1 message to be read when it has its turn");
	host.later = 0;
	host.held = 2;
	expect(&host, 1, "0 of 1 host complete; web-1 has 2 messages over its quota");
	host.held = 0;
	host.trouble = (char *)"cannot open x: y";
	expect(&host, 1,
	       "0 of 1 host complete; web-1 has a log that does not open: cannot open x: y");
	host.trouble = NULL;
	host.name_shared = true;
	expect(&host, 1,
	       "1 of 1 host complete to 1 s ago; web-1(5c04cde4a12c) has the name of another host");
	host.name_shared = false;
	host.expected = (char *)"bank-db";
	expect(&host, 1, "1 of 1 host complete to 1 s ago; bank-db calls itself web-1");
}

static void conditions(void **state)
{
	static const struct {
		enum presence_state state;
		enum presence_daemon daemon;
		unsigned int said, heard; /* seconds ago */
		bool closed, stopped;
		enum completeness_condition expected;
	} cases[] = {
		/* No word of a shipper: the records alone tell. */
		{0, 0, 0, 100, false, false, COMPLETENESS_FINE},
		{0, 0, 0, 200, false, false, COMPLETENESS_SILENT},
		{0, 0, 0, 200, false, true, COMPLETENESS_DAEMON_STOPPED},
		{PRESENCE_SHIPPING, PRESENCE_RUNNING, 10, 100, false, false, COMPLETENESS_FINE},
		{PRESENCE_SHIPPING, PRESENCE_RUNNING, 45, 100, false, false, COMPLETENESS_FINE},
		{PRESENCE_SHIPPING, PRESENCE_RUNNING, 10, 200, false, false,
		 COMPLETENESS_DAEMON_MUTE},
		/* Not only once it is silent for long. */
		{PRESENCE_SHIPPING, PRESENCE_KILLED, 10, 20, false, false,
		 COMPLETENESS_DAEMON_KILLED},
		{PRESENCE_SHIPPING, PRESENCE_STOPPED, 10, 20, false, true,
		 COMPLETENESS_DAEMON_STOPPED},
		{PRESENCE_LEAVING, PRESENCE_RUNNING, 1, 20, false, false,
		 COMPLETENESS_SHIPPER_STOPPED},
		{PRESENCE_LEAVING, PRESENCE_KILLED, 4000, 4000, true, false,
		 COMPLETENESS_SHIPPER_STOPPED},
		{PRESENCE_SHIPPING, PRESENCE_RUNNING, 46, 50, true, false,
		 COMPLETENESS_SHIPPER_KILLED},
		{PRESENCE_SHIPPING, PRESENCE_RUNNING, 46, 50, false, false, COMPLETENESS_CUT_OFF},
		/* What was true of the daemon then says nothing of now. */
		{PRESENCE_SHIPPING, PRESENCE_KILLED, 46, 50, false, false, COMPLETENESS_CUT_OFF},
		{PRESENCE_REWRITTEN, PRESENCE_RUNNING, 9000, 9000, false, false,
		 COMPLETENESS_REWRITTEN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct completeness_host host = heard("web-7", cases[i].heard);
		enum completeness_condition found;

		host.presence = (struct presence){
			.state = cases[i].state,
			.daemon = cases[i].daemon,
			.every = 15 * NSEC_PER_SEC,
			.at = NOW - cases[i].said * NSEC_PER_SEC,
			.closed = cases[i].closed,
		};
		if (cases[i].stopped)
			strcpy(host.last_action, "agent-stop");
		found = completeness_condition(&at_now, &host);
		if (found != cases[i].expected)
			fail_msg("case %zu: %s, not %s", i, completeness_condition_text(found),
				 completeness_condition_text(cases[i].expected));
		assert_int_equal(completeness_is_complete(&at_now, &host),
				 found == COMPLETENESS_FINE);
	}
	for (unsigned int i = 0; i < COMPLETENESS_CONDITION_COUNT; i++)
		assert_non_null(completeness_condition_text(i));
}

static void causes(void **state)
{
	struct completeness_host host = heard("web-7", 3 * 3600);

	(void)state;
	host.presence = (struct presence){.state = PRESENCE_SHIPPING,
					  .daemon = PRESENCE_KILLED,
					  .every = 15 * NSEC_PER_SEC,
					  .at = NOW};
	expect(&host, 1, "0 of 1 host complete; web-7 silent since 21:00: daemon killed, no seal");
	host.sealed = true;
	expect(&host, 1,
	       "0 of 1 host complete; web-7 silent since 21:00: daemon killed, last seal intact");
	host.unsealed = 1204;
	expect(&host, 1,
	       "0 of 1 host complete; web-7 silent since 21:00: daemon killed, "
	       "last seal 1,204 records before its end");
	host.unsealed = 1;
	host.presence.state = PRESENCE_REWRITTEN;
	expect(&host, 1,
	       "0 of 1 host complete; web-7 silent since 21:00: its log was rewritten, "
	       "and its shipper stopped, last seal 1 record before its end");
	host.presence.state = PRESENCE_LEAVING;
	expect(&host, 1,
	       "0 of 1 host complete; web-7 silent since 21:00: shipper stopped in order");
}

static void many_are_counted(void **state)
{
	struct completeness_host hosts[1000];
	_cleanup_(freep) char *text = NULL;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		hosts[i] = heard("host", i < 997 ? 40 : 400);
	text = completeness_text(&at_now, hosts, 1000);
	assert_memory_equal(text, "997 of 1,000 hosts complete to 40 s ago; host silent since ",
			    strlen("997 of 1,000 hosts complete to 40 s ago; host silent since "));
	free(text);
	for (size_t i = 0; i < 1000; i++)
		hosts[i].missing = 1;
	text = completeness_text(&at_now, hosts, 1000);
	assert_non_null(strstr(text, "; 995 more that lack records"));
}

static void json_names_who_is_not(void **state)
{
	struct completeness_host hosts[2] = {heard("web-1", 1), heard("web-2", 1)};
	json_t *object;

	(void)state;
	hosts[1].missing = 7;
	object = completeness_json(&at_now, hosts, 2);
	assert_int_equal(json_integer_value(json_object_get(object, "complete")), 1);
	assert_int_equal(json_array_size(json_object_get(object, "not_complete")), 1);
	assert_int_equal(
		json_integer_value(json_object_get(
			json_array_get(json_object_get(object, "not_complete"), 0), "missing")),
		7);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_between),
		cmocka_unit_test(texts),
		cmocka_unit_test(what_one_host_causes),
		cmocka_unit_test(conditions),
		cmocka_unit_test(causes),
		cmocka_unit_test(many_are_counted),
		cmocka_unit_test(json_names_who_is_not),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
