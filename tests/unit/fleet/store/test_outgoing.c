/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way to ClickHouse: which are in a batch, what is sent again after a crash, and what
 * stays here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/store/outgoing.h"

#define HOST "ab12"

struct store {
	char directory[64];
	struct rows *rows;
	struct outgoing outgoing;
	struct failure failure;
};

static void good(struct store *s, int r)
{
	if (r < 0)
		fail_msg("%s", s->failure.text);
}

static void open_rows(struct store *s)
{
	good(s, rows_open(s->directory, true, &s->rows, &s->failure));
	s->outgoing = (struct outgoing){.rows = s->rows};
}

/* As if it had died: what was not committed is gone. */
static void crash(struct store *s)
{
	outgoing_release(&s->outgoing);
	rows_close(s->rows);
	open_rows(s);
}

static int set_up(void **state)
{
	struct store *s = calloc(1, sizeof(*s));

	strcpy(s->directory, "/tmp/cordon-outgoing-XXXXXX");
	assert_non_null(mkdtemp(s->directory));
	open_rows(s);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct store *s = *state;
	char command[128];

	outgoing_release(&s->outgoing);
	rows_close(s->rows);
	(void)snprintf(command, sizeof(command), "rm -rf %s", s->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	free(s);
	return 0;
}

static void add(struct store *s, const char *id, uint64_t first, uint64_t last)
{
	struct rows_log log;

	good(s, rows_begin(s->rows, &s->failure));
	good(s, rows_log(s->rows, HOST, id, 1, &log, &s->failure));
	good(s, rows_name(s->rows, &log, "web\"1", &s->failure));
	for (uint64_t i = first; i <= last; i++) {
		struct row row = {.sequence = i,
				  .time = "2026-01-31T12:34:56.123456789Z",
				  .action = "denial",
				  .execution = "01a2",
				  .policy = "p",
				  .digest = "43",
				  .operation = "open",
				  .rule = "r:9",
				  .template = "/etc/shadow"};
		char *early = NULL;

		good(s,
		     rows_add(s->rows, &log, &row, first, 100 * i, "{}\n", 3, &early, &s->failure));
		assert_null(early);
	}
	good(s, rows_commit(s->rows, &s->failure));
}

static uint64_t number_of(struct store *s, const char *sql)
{
	sqlite3_stmt *statement;
	uint64_t number;

	assert_int_equal(sqlite3_prepare_v2(rows_database(s->rows), sql, -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

/* Nothing is known to be on the server. */
static void begin(struct store *s)
{
	assert_int_equal(outgoing_is_new(&s->outgoing, &s->failure), 1);
	good(s, rows_begin(s->rows, &s->failure));
	good(s, outgoing_known(&s->outgoing, &s->failure));
	good(s, rows_commit(s->rows, &s->failure));
	assert_int_equal(outgoing_is_new(&s->outgoing, &s->failure), 0);
}

static void as_a_line(void **state)
{
	struct store *s = *state;

	add(s, "01", 7, 7);
	begin(s);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	buffer_add(&s->outgoing.lines, "", 1);
	assert_string_equal(
		s->outgoing.lines.data,
		"{\"host\":\"ab12\",\"name\":\"web\\\"1\",\"log\":\"01\",\"seq\":7,"
		"\"time\":\"2026-01-31 12:34:56.123456789\",\"action\":\"denial\","
		"\"execution\":\"01a2\",\"policy\":\"p\",\"digest\":\"43\",\"rule\":\"r:9\","
		"\"operation\":\"open\",\"template\":\"/etc/shadow\",\"segment\":7,\"offset\":700}\n");
}

static void leaves_once_it_has_arrived(void **state)
{
	struct store *s = *state;

	begin(s);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 0);
	add(s, "01", 1, 5);
	add(s, "02", 1, 3);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 8);
	assert_false(s->outgoing.full);
	assert_int_equal(number_of(s, "SELECT count(*) FROM records"), 8);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	/* The last of each says where the log goes on. */
	assert_int_equal(number_of(s, "SELECT count(*) FROM records"), 2);
	assert_int_equal(number_of(s, "SELECT sum(sent) FROM logs"), 5 + 3);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 0);
	add(s, "01", 6, 6);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 1);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(number_of(s, "SELECT count(*) FROM records"), 2);
}

static void the_same_after_a_crash(void **state)
{
	struct store *s = *state;
	char token[UUID_TEXT_SIZE], *lines;
	size_t size;

	begin(s);
	assert_int_equal(outgoing_again(&s->outgoing, &s->failure), 0);
	add(s, "01", 1, 5);
	add(s, "02", 1, 3);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	memcpy(token, s->outgoing.token, sizeof(token));
	size = s->outgoing.lines.size;
	lines = malloc(size);
	memcpy(lines, s->outgoing.lines.data, size);
	/* What comes meanwhile is not in it. */
	add(s, "01", 6, 9);
	add(s, "03", 1, 1);
	crash(s);
	assert_int_equal(outgoing_again(&s->outgoing, &s->failure), 1);
	assert_string_equal(s->outgoing.token, token);
	assert_int_equal(s->outgoing.lines.size, size);
	assert_memory_equal(s->outgoing.lines.data, lines, size);
	crash(s);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_string_equal(s->outgoing.token, token);
	assert_int_equal(s->outgoing.lines.size, size);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_string_not_equal(s->outgoing.token, token);
	assert_int_equal(s->outgoing.count, 4 + 1);
	free(lines);
}

static void each_log_has_its_turn(void **state)
{
	struct store *s = *state;

	begin(s);
	add(s, "01", 1, 25000);
	add(s, "02", 1, 3);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 10000 + 3);
	assert_true(s->outgoing.full);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 10000);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 5000);
	assert_false(s->outgoing.full);
}

static void what_the_server_has_is_not_sent(void **state)
{
	struct store *s = *state;

	add(s, "01", 1, 5);
	add(s, "02", 1, 3);
	good(s, rows_begin(s->rows, &s->failure));
	good(s, outgoing_has(&s->outgoing, HOST, "01", 3, &s->failure));
	/* More than the log has here; and one that is not ours. */
	good(s, outgoing_has(&s->outgoing, HOST, "02", 9, &s->failure));
	good(s, outgoing_has(&s->outgoing, "ffff", "02", 1, &s->failure));
	good(s, outgoing_known(&s->outgoing, &s->failure));
	good(s, rows_commit(s->rows, &s->failure));
	assert_int_equal(number_of(s, "SELECT count(*) FROM records"), 2 + 1);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	assert_int_equal(s->outgoing.count, 2);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 0);
}

static void what_it_lost_is_noticed(void **state)
{
	struct store *s = *state;
	uint64_t sent = 0;

	begin(s);
	add(s, "01", 1, 5);
	assert_int_equal(outgoing_lost(&s->outgoing, HOST, "01", 0, 0, &sent, &s->failure), 0);
	assert_int_equal(outgoing_next(&s->outgoing, &s->failure), 1);
	good(s, outgoing_arrived(&s->outgoing, &s->failure));
	assert_int_equal(outgoing_lost(&s->outgoing, HOST, "01", 5, 0, &sent, &s->failure), 0);
	assert_int_equal(outgoing_lost(&s->outgoing, "ffff", "01", 3, 0, &sent, &s->failure), 0);
	assert_int_equal(outgoing_lost(&s->outgoing, HOST, "01", 3, 0, &sent, &s->failure), 1);
	assert_int_equal(sent, 5);
	/*
	 * Its last record is of January 2026: what is older than February's may be gone for its
	 * age.
	 */
	assert_int_equal(outgoing_lost(&s->outgoing, HOST, "01", 3, 1769904000000000000, &sent,
				       &s->failure),
			 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(as_a_line),
		TEST(leaves_once_it_has_arrived),
		TEST(the_same_after_a_crash),
		TEST(each_log_has_its_turn),
		TEST(what_the_server_has_is_not_sent),
		TEST(what_it_lost_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
