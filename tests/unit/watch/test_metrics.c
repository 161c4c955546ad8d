/* SPDX-License-Identifier: Apache-2.0 */
/* The series that a daemon's status becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "watch/metrics.h"

/* The series of a status, as text; freed by the caller. */
static char *written(const json_t *status, size_t *ret_series)
{
	_cleanup_(exposition_release) struct exposition x = {};
	const struct metrics_source source = {.status = status, .took_nsec = 1500000000};
	char *text;

	assert_int_equal(metrics_write(&x, &source), 0);
	text = malloc(x.text.size + 1);
	assert_non_null(text);
	memcpy(text, x.text.data, x.text.size);
	text[x.text.size] = '\0';
	if (ret_series)
		*ret_series = x.series;
	return text;
}

static char *written_of(const char *json, size_t *ret_series)
{
	json_t *status = json_loads(json, 0, NULL);
	char *text;

	assert_non_null(status);
	text = written(status, ret_series);
	json_decref(status);
	return text;
}

static void assert_line(const char *text, const char *line)
{
	char wanted[256];

	/* What says what it is for stands before each. */
	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	if (!strstr(text, wanted))
		fail_msg("no line \"%s\" in:\n%s", line, text);
}

static void test_no_daemon(void **state)
{
	_cleanup_(freep) char *text = written(NULL, NULL);

	(void)state;
	assert_line(text, "cordon_up 0");
	assert_line(text, "cordon_status_seconds 1.5");
	assert_line(text, "cordon_watch_series_left_out 0");
	/* What is not known is not told, as 0 least of all. */
	assert_null(strstr(text, "cordon_enforcing"));
	assert_null(strstr(text, "cordon_executions"));
}

static void test_units(void **state)
{
	_cleanup_(freep) char *text = written_of(
		"{\"version\":\"1.2\",\"enforcing\":true,\"embedded\":false,\"uptime_nsec\":2500000000,"
		"\"totals\":{\"denials\":7,\"attempts\":5,\"ended\":{\"owner-gone\":2}},\"dns\":{\"queries\":3,\"waiting\":1},"
		"\"log_figures\":{\"free_bytes\":null,\"seal_age_nsec\":null,\"sealing\":false}}",
		NULL);

	(void)state;
	assert_line(text, "cordon_up 1");
	assert_line(text, "cordon_build_info{version=\"1.2\"} 1");
	assert_line(text, "cordon_enforcing 1");
	assert_line(text, "cordon_daemon_embedded 0");
	assert_line(text, "cordon_daemon_uptime_seconds 2.5");
	assert_line(text, "cordon_denials_total 7");
	assert_line(text, "cordon_attempts_total 5");
	assert_line(text, "cordon_executions_ended_total{cause=\"owner-gone\"} 2");
	assert_line(text, "cordon_dns_questions_total{what=\"queries\"} 3");
	assert_line(text, "cordon_dns_waiting 1");
	assert_null(strstr(text, "what=\"waiting\""));
	assert_line(text, "cordon_log_sealing 0");
	assert_null(strstr(text, "cordon_log_free_bytes"));
	assert_null(strstr(text, "cordon_log_seal_age_seconds"));
}

static void test_histogram(void **state)
{
	_cleanup_(freep) char *text = written_of(
		"{\"turns\":{\"longest\":{\"what\":\"x\",\"nsec\":60000000},\"busiest\":{\"what\":\"y\",\"nsec\":20000000},\"total_nsec\":90000000,\"histogram\":["
		"{\"below_nsec\":1000000,\"turns\":5},{\"below_nsec\":100000000,\"turns\":2},"
		"{\"below_nsec\":null,\"turns\":1}]}}",
		NULL);

	(void)state;
	assert_line(text, "cordon_loop_turn_seconds_bucket{le=\"0.001\"} 5");
	assert_line(text, "cordon_loop_turn_seconds_bucket{le=\"0.1\"} 7");
	assert_line(text, "cordon_loop_turn_seconds_bucket{le=\"+Inf\"} 8");
	assert_line(text, "cordon_loop_turn_seconds_sum 0.09");
	assert_line(text, "cordon_loop_turn_seconds_count 8");
	assert_line(text, "cordon_loop_longest_turn_seconds 0.06");
	assert_line(text, "cordon_loop_busiest_turn_seconds 0.02");
}

static void test_gaps(void **state)
{
	_cleanup_(freep) char *text = written_of(
		"{\"gaps\":[\"memory controller: no \\\"limit\\\"\",\"a\\\"b\",\"memory controller: again\",7]}",
		NULL);
	const char *first = strstr(text, "cordon_kernel_gap{feature=\"memory controller\"} 1\n");

	(void)state;
	assert_line(text, "cordon_kernel_gaps 4");
	assert_line(text, "cordon_kernel_gap{feature=\"a\\\"b\"} 1");
	assert_non_null(first);
	/* One series twice would make all of it invalid. */
	assert_null(strstr(strchr(first, '\n'), "memory controller"));
}

/* Members of another type, or of another version, make no series. */
static void test_strange(void **state)
{
	static const char wrong[] =
		"{\"version\":7,\"enforcing\":\"yes\",\"uptime_nsec\":-1,\"executions\":1.5,"
		"\"totals\":[],\"counters\":\"many\",\"dns\":7,\"turns\":[1],\"gaps\":{\"a\":1}}";
	static const char inside[] =
		"{\"turns\":{\"longest\":null,\"histogram\":[1,null,{\"turns\":-4}]},"
		"\"totals\":{\"ended\":{\"x\":-1}},\"log_figures\":null}";
	static const char *const statuses[] = {"{}", wrong, inside, "[]"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		_cleanup_(freep) char *text = written_of(statuses[i], NULL);

		assert_line(text, "cordon_up 1");
		assert_null(strstr(text, "cordon_executions"));
		assert_null(strstr(text, "-"));
	}
}

/* A daemon that has gone mad costs whoever stores the series no more than others do. */
static void test_bound(void **state)
{
	json_t *status = json_object(), *object = json_object(), *gaps = json_array();
	_cleanup_(freep) char *text = NULL;
	size_t series;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name%d", i);
		json_object_set_new(object, name, json_integer(i));
		json_array_append_new(gaps, json_string(name));
	}
	json_object_set(status, "counters", object);
	json_object_set(status, "dns", object);
	json_object_set_new(status, "totals", json_pack("{s:o}", "ended", object));
	json_object_set_new(status, "gaps", gaps);
	text = written(status, &series);
	assert_true(series <= EXPOSITION_MAX_SERIES);
	assert_null(strstr(text, "cordon_watch_series_left_out 0\n"));
	assert_non_null(strstr(text, "\ncordon_watch_series_left_out "));
	json_decref(status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_daemon), cmocka_unit_test(test_units),
		cmocka_unit_test(test_histogram), cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_strange),	  cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
