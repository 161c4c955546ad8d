/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deliveries in order, out of order, twice, hostile, and after the store died: what is kept, and
 * what is kept apart.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "audit/read/reader.h"
#include "audit/storage/chain.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/io.h"
#include "fleet/ask/host_states.h"
#include "fleet/store/intake.h"
#include "fleet/store/rows.h"

#define HOST  "ab12"
#define LOG   "01a2-3"
#define LINES 12

struct made {
	char directory[64];
	char lines[LINES + 1][512]; /* by seq, from 1 */
	unsigned char chains[LINES + 1][SHA256_SIZE];
	struct intake *intake;
};

static void make_line(struct made *m, unsigned int sequence, const char *members)
{
	struct sha256 *hash = sha256_new();
	char tail[CHAIN_TAIL_SIZE], time[CLOCK_TEXT_SIZE];
	int size;

	clock_format(clock_nsec(CLOCK_REALTIME), time);
	size = snprintf(m->lines[sequence], sizeof(m->lines[0]),
			"{\"seq\":%u,\"@timestamp\":\"%s\"%s", sequence, time, members);
	assert_int_equal(chain_digest(hash, m->chains[sequence - 1], m->lines[sequence],
				      (size_t)size, m->chains[sequence]),
			 0);
	chain_write_tail(m->chains[sequence], tail);
	memcpy(m->lines[sequence] + size, tail, sizeof(tail));
	m->lines[sequence][(size_t)size + sizeof(tail)] = '\0';
	sha256_free(hash);
}

static void open_store(struct made *m)
{
	struct failure failure = {};

	if (intake_open(m->directory, 0, &m->intake, &failure) < 0)
		fail_msg("%s", failure.text);
	assert_int_equal(intake_begin(m->intake, NULL), 0);
}

static int set_up(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	strcpy(m->directory, "/tmp/cordon-intake-XXXXXX");
	assert_non_null(mkdtemp(m->directory));
	for (unsigned int i = 1; i <= LINES; i++)
		make_line(m, i,
			  ",\"event\":{\"action\":\"denial\"},\"file\":{\"path\":\"/etc/shadow\"},"
			  "\"cordon\":{\"operation\":\"open\"}");
	open_store(m);
	*state = m;
	return 0;
}

static int tear_down(void **state)
{
	struct made *m = *state;
	char command[128];

	intake_close(m->intake);
	(void)snprintf(command, sizeof(command), "rm -rf %s", m->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	free(m);
	return 0;
}

static enum intake_result deliver(struct made *m, const char *host, bool first_lane,
				  const char *text)
{
	struct delivery delivery = {.log = LOG,
				    .first_lane = first_lane,
				    .data = text,
				    .size = strlen(text),
				    .now = clock_nsec(CLOCK_REALTIME)};
	enum intake_result result = INTAKE_RESULT_COUNT;
	struct failure failure = {};

	strcpy(delivery.host, host);
	if (intake_take(m->intake, &delivery, &result, &failure) < 0)
		fail_msg("%s", failure.text);
	return result;
}

static enum intake_result bring(struct made *m, bool first_lane, unsigned int first,
				unsigned int last)
{
	char text[sizeof(m->lines)] = "";

	for (unsigned int i = first; i <= last; i++)
		strcat(text, m->lines[i]);
	return deliver(m, HOST, first_lane, text);
}

static void commit(struct made *m)
{
	assert_int_equal(intake_commit(m->intake, NULL), 0);
	assert_int_equal(intake_begin(m->intake, NULL), 0);
}

static void print_problem(void *data, const char *text)
{
	(void)data;
	print_message("%s\n", text);
}

/* The copy has exactly the first `count` lines from `first` on, and verifies. */
static void expect_copy(struct made *m, unsigned int first, unsigned int last)
{
	char path[128], expected[sizeof(m->lines)] = "";
	struct audit_verification verification;
	struct audit_reader *reader;
	char *data;
	size_t size;

	for (unsigned int i = first; i <= last; i++)
		strcat(expected, m->lines[i]);
	(void)snprintf(path, sizeof(path), "%s/hosts/" HOST "/" LOG "/current.jsonl", m->directory);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1u << 20, &data, &size), 0);
	assert_string_equal(data, expected);
	free(data);
	*strrchr(path, '/') = '\0';
	assert_int_equal(audit_reader_open(path, &reader, NULL), 0);
	assert_int_equal(audit_reader_verify(reader, print_problem, NULL, &verification, NULL), 0);
	assert_int_equal(verification.problems, first > 1 ? 1 : 0);
	assert_int_equal(verification.records, last - first + 1);
	audit_reader_close(reader);
}

static uint64_t number_of(struct made *m, const char *sql)
{
	sqlite3_stmt *statement;
	struct rows *rows;
	uint64_t number;

	commit(m);
	assert_int_equal(rows_open(m->directory, false, &rows, NULL), 0);
	assert_int_equal(sqlite3_prepare_v2(rows_database(rows), sql, -1, &statement, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	rows_close(rows);
	return number;
}

static uint64_t missing(struct made *m)
{
	struct host_states states;
	struct rows *rows;
	uint64_t count;

	commit(m);
	assert_int_equal(rows_open(m->directory, false, &rows, NULL), 0);
	assert_int_equal(host_states_read(rows, NULL, &states, NULL), 0);
	assert_int_equal(states.count, 1);
	count = states.hosts[0].missing;
	host_states_free(&states);
	rows_close(rows);
	return count;
}

static void in_order_and_again(void **state)
{
	struct made *m = *state;

	assert_int_equal(bring(m, false, 1, 4), INTAKE_TAKEN);
	assert_int_equal(bring(m, false, 1, 4), INTAKE_KNOWN);
	assert_int_equal(bring(m, false, 3, 8), INTAKE_TAKEN);
	assert_int_equal(bring(m, false, 2, 7), INTAKE_KNOWN);
	assert_int_equal(bring(m, false, 9, 9), INTAKE_TAKEN);
	expect_copy(m, 1, 9);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records"), 9);
	assert_int_equal(
		number_of(m, "SELECT sum(count) FROM rollups WHERE template = '/etc/shadow'"), 9);
	assert_int_equal(missing(m), 0);
}

static void out_of_order_waits(void **state)
{
	struct made *m = *state;

	assert_int_equal(bring(m, false, 10, 12), INTAKE_WAITS);
	assert_int_equal(bring(m, false, 4, 6), INTAKE_WAITS);
	assert_int_equal(bring(m, false, 4, 6), INTAKE_WAITS);
	assert_int_equal(missing(m), 3 + 3);
	assert_int_equal(bring(m, false, 1, 3), INTAKE_TAKEN);
	expect_copy(m, 1, 6);
	assert_int_equal(missing(m), 3);
	assert_int_equal(bring(m, false, 7, 9), INTAKE_TAKEN);
	expect_copy(m, 1, 12);
	assert_int_equal(number_of(m, "SELECT count(*) FROM waiting"), 0);
	assert_int_equal(number_of(m, "SELECT count(*) FROM apart"), 0);
}

static void first_lane_is_covered_later(void **state)
{
	struct made *m = *state;

	assert_int_equal(bring(m, false, 1, 2), INTAKE_TAKEN);
	assert_int_equal(bring(m, true, 5, 5), INTAKE_TAKEN);
	assert_int_equal(bring(m, true, 5, 5), INTAKE_TAKEN);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records"), 3);
	assert_int_equal(number_of(m, "SELECT sum(count) FROM rollups"), 2);
	assert_int_equal(missing(m), 2);
	expect_copy(m, 1, 2);
	assert_int_equal(bring(m, false, 3, 6), INTAKE_TAKEN);
	expect_copy(m, 1, 6);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records WHERE segment IS NULL"), 0);
	assert_int_equal(number_of(m, "SELECT count(*) FROM early"), 0);
	assert_int_equal(number_of(m, "SELECT sum(count) FROM rollups"), 6);
	assert_int_equal(number_of(m, "SELECT count(*) FROM apart"), 0);
	assert_int_equal(bring(m, true, 5, 5), INTAKE_KNOWN);
}

static void invented_early_record_is_told(void **state)
{
	struct made *m = *state, other = *m;

	make_line(&other, 3, ",\"event\":{\"action\":\"invented\"}");
	assert_int_equal(deliver(m, HOST, true, other.lines[3]), INTAKE_TAKEN);
	assert_int_equal(bring(m, false, 1, 4), INTAKE_TAKEN);
	assert_int_equal(
		number_of(
			m,
			"SELECT count(*) FROM apart WHERE reason LIKE '%another record 3 than the log%'"),
		1);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records WHERE action = 'invented'"), 0);
	expect_copy(m, 1, 4);
}

static void hostile_deliveries_are_kept_apart(void **state)
{
	struct made *m = *state, other = *m;
	char *huge = malloc(1100000);
	char text[2048];

	assert_int_equal(bring(m, false, 1, 3), INTAKE_TAKEN);
	/* Another history. */
	make_line(&other, 3, ",\"event\":{\"action\":\"other\"}");
	make_line(&other, 4, ",\"event\":{\"action\":\"other\"}");
	assert_int_equal(deliver(m, HOST, false, other.lines[4]), INTAKE_APART);
	/* The same again is kept once. */
	assert_int_equal(deliver(m, HOST, false, other.lines[4]), INTAKE_APART);
	assert_int_equal(
		number_of(m, "SELECT count(*) FROM apart WHERE reason LIKE '%chain does not fit%'"),
		1);
	assert_int_equal(deliver(m, HOST, false, other.lines[3]), INTAKE_APART);
	assert_int_equal(deliver(m, HOST, true, other.lines[3]), INTAKE_APART);
	/* Changed after it was chained. */
	strcpy(text, m->lines[4]);
	memcpy(strstr(text, "denial"), "denied", 6);
	assert_int_equal(deliver(m, HOST, false, text), INTAKE_APART);
	/* Host B's id, in host A's subject. */
	make_line(&other, 1, ",\"host\":{\"id\":\"ffff\"},\"event\":{\"action\":\"identity\"}");
	assert_int_equal(deliver(m, "cd34", false, other.lines[1]), INTAKE_APART);
	make_line(&other, 1,
		  ",\"host\":{\"id\":\"cd34\"},\"cordon\":{\"identity\":{\"log\":\"ffff\"}}");
	assert_int_equal(deliver(m, "cd34", false, other.lines[1]), INTAKE_APART);
	/* From the future; from no time. */
	make_line(&other, 1, ",\"@timestamp\":\"2999-01-01T00:00:00.000000000Z\"");
	assert_int_equal(deliver(m, "cd34", false, other.lines[1]), INTAKE_APART);
	(void)snprintf(text, sizeof(text),
		       "{\"seq\":1,\"@timestamp\":\"2999-01-01T00:00:00.000000000Z\"%s",
		       strstr(m->lines[1], ",\"chain\""));
	assert_int_equal(deliver(m, "cd34", false, text), INTAKE_APART);
	/* No lines of a log. */
	assert_int_equal(deliver(m, HOST, false, ""), INTAKE_APART);
	assert_int_equal(deliver(m, HOST, false, "\n"), INTAKE_APART);
	assert_int_equal(deliver(m, HOST, false, "{}\n"), INTAKE_APART);
	text[0] = '\0';
	strncat(text, m->lines[4], strlen(m->lines[4]) - 1);
	assert_int_equal(deliver(m, HOST, false, text), INTAKE_APART);
	(void)snprintf(text, sizeof(text), "%s%s", m->lines[4], m->lines[6]);
	assert_int_equal(deliver(m, HOST, false, text), INTAKE_APART);
	memset(huge, 'a', 1099998);
	huge[1099998] = '\n';
	huge[1099999] = '\0';
	assert_int_equal(deliver(m, HOST, false, huge), INTAKE_APART);
	free(huge);
	/* None of this harms what comes in order. */
	assert_int_equal(bring(m, false, 4, 5), INTAKE_TAKEN);
	expect_copy(m, 1, 5);
	assert_int_equal(number_of(m, "SELECT count(*) FROM apart WHERE host = 'cd34'"), 4);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records WHERE host != 1"), 0);
}

static void dies_before_the_commit(void **state)
{
	struct made *m = *state;

	assert_int_equal(bring(m, false, 1, 3), INTAKE_TAKEN);
	commit(m);
	assert_int_equal(bring(m, false, 4, 6), INTAKE_TAKEN);
	/* Its rows go with the transaction; the log has the lines. */
	intake_close(m->intake);
	open_store(m);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records"), 6);
	assert_int_equal(bring(m, false, 4, 6), INTAKE_KNOWN);
	assert_int_equal(bring(m, false, 7, 8), INTAKE_TAKEN);
	expect_copy(m, 1, 8);
	assert_int_equal(number_of(m, "SELECT sum(count) FROM rollups"), 8);
}

static void rows_are_made_of_logs(void **state)
{
	struct made *m = *state;
	char path[128];

	assert_int_equal(bring(m, false, 1, 9), INTAKE_TAKEN);
	commit(m);
	intake_close(m->intake);
	(void)snprintf(path, sizeof(path), "%s/" ROWS_NAME, m->directory);
	assert_int_equal(unlink(path), 0);
	open_store(m);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records"), 9);
	assert_int_equal(bring(m, false, 8, 10), INTAKE_TAKEN);
	expect_copy(m, 1, 10);
}

static void torn_line_is_cut_off(void **state)
{
	struct made *m = *state;
	char path[128];
	int fd;

	assert_int_equal(bring(m, false, 1, 3), INTAKE_TAKEN);
	commit(m);
	intake_close(m->intake);
	(void)snprintf(path, sizeof(path), "%s/hosts/" HOST "/" LOG "/current.jsonl", m->directory);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(io_write_all(fd, m->lines[4], 40), 0);
	close(fd);
	open_store(m);
	assert_int_equal(bring(m, false, 4, 4), INTAKE_TAKEN);
	expect_copy(m, 1, 4);
}

static void cut_log_is_told(void **state)
{
	struct made *m = *state;
	char path[128];

	assert_int_equal(bring(m, false, 1, 3), INTAKE_TAKEN);
	commit(m);
	intake_close(m->intake);
	(void)snprintf(path, sizeof(path), "%s/hosts/" HOST "/" LOG "/current.jsonl", m->directory);
	assert_int_equal(truncate(path, (off_t)(strlen(m->lines[1]) + strlen(m->lines[2]))), 0);
	open_store(m);
	assert_int_equal(bring(m, false, 4, 4), INTAKE_APART);
	assert_int_equal(
		number_of(m, "SELECT count(*) FROM apart WHERE reason LIKE '%it was truncated%'"),
		1);
}

static void begins_behind_a_deletion_on_record(void **state)
{
	struct made *m = *state;
	char members[256], chain[SHA256_TEXT_SIZE];

	hex_encode(m->chains[5], SHA256_SIZE, chain);
	(void)snprintf(
		members, sizeof(members),
		",\"event\":{\"action\":\"retention\"},\"cordon\":{\"retention\":{\"last\":5,\"chain\":\"%s\"}}",
		chain);
	make_line(m, 8, members);
	for (unsigned int i = 9; i <= LINES; i++)
		make_line(m, i, "");
	assert_int_equal(bring(m, false, 6, 7), INTAKE_WAITS);
	assert_int_equal(missing(m), 5);
	assert_int_equal(bring(m, false, 8, 9), INTAKE_WAITS);
	assert_int_equal(missing(m), 0);
	expect_copy(m, 6, 9);
	commit(m);
	intake_close(m->intake);
	open_store(m);
	assert_int_equal(bring(m, false, 10, 12), INTAKE_TAKEN);
	expect_copy(m, 6, 12);
}

/* What waits is in rows, found as not covered, and counted with what lacks before it. */
static void what_waits_has_rows(void **state)
{
	struct made *m = *state;

	assert_int_equal(bring(m, false, 1, 2), INTAKE_TAKEN);
	assert_int_equal(bring(m, false, 5, 8), INTAKE_WAITS);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records WHERE segment < 0"), 4);
	assert_int_equal(number_of(m, "SELECT sum(count) FROM rollups"), 2);
	assert_true(number_of(m, "SELECT parked FROM hosts") > 4 * ROWS_PARKED_RECORD);
	assert_int_equal(bring(m, false, 3, 4), INTAKE_TAKEN);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records WHERE segment > 0"), 8);
	assert_int_equal(number_of(m, "SELECT count(*) FROM records"), 8);
	assert_int_equal(number_of(m, "SELECT parked FROM hosts"), 0);
}

static void skipped_records_are_given_up(void **state)
{
	struct made *m = *state;
	struct failure failure = {};

	assert_int_equal(bring(m, false, 1, 2), INTAKE_TAKEN);
	assert_int_equal(intake_skip(m->intake, HOST, LOG, 3, "x", &failure), -ERANGE);
	assert_int_equal(bring(m, false, 6, 6), INTAKE_WAITS);
	assert_int_equal(intake_skip(m->intake, HOST, LOG, 2, "x", &failure), -ERANGE);
	assert_int_equal(intake_skip(m->intake, HOST, LOG, 6, "x", &failure), -ERANGE);
	assert_int_equal(intake_skip(m->intake, HOST, LOG, 4, "x", &failure), 0);
	assert_int_equal(missing(m), 0);
	assert_int_equal(number_of(m, "SELECT sum(last - first + 1) FROM holes"), 3);
	commit(m);
	intake_close(m->intake);
	open_store(m);
	assert_int_equal(bring(m, false, 7, 9), INTAKE_TAKEN);
	assert_int_equal(number_of(m, "SELECT contiguous FROM logs"), 9);
	/* Of what was given up the first lane may still bring some. */
	assert_int_equal(bring(m, true, 4, 4), INTAKE_KNOWN);
	assert_int_equal(number_of(m, "SELECT count(*) FROM early"), 1);
	assert_int_equal(number_of(m, "SELECT count(*) FROM apart"), 0);
}

/* A run whose first record the store never had: another store goes on with it. */
static void run_begins_after_a_restart(void **state)
{
	struct made *m = *state, other = *m;
	struct failure failure = {};

	assert_int_equal(bring(m, false, 1, 2), INTAKE_TAKEN);
	/* What waits is one that its chain does not hold together. */
	make_line(&other, 5, ",\"event\":{\"action\":\"other\"}");
	strcat(other.lines[5], m->lines[6]);
	assert_int_equal(deliver(m, HOST, false, other.lines[5]), INTAKE_WAITS);
	assert_int_equal(intake_skip(m->intake, HOST, LOG, 3, "x", &failure), 0);
	assert_int_equal(number_of(m, "SELECT count(*) FROM apart"), 1);
	commit(m);
	intake_close(m->intake);
	open_store(m);
	assert_int_equal(bring(m, false, 5, 8), INTAKE_TAKEN);
	assert_int_equal(number_of(m, "SELECT contiguous FROM logs"), 8);
}

static int try_to_deliver(struct made *m, const char *log, const char *text)
{
	struct delivery delivery = {.host = HOST,
				    .data = text,
				    .size = strlen(text),
				    .now = clock_nsec(CLOCK_REALTIME)};
	enum intake_result result;
	struct failure failure = {};
	int r;

	strcpy(delivery.log, log);
	r = intake_take(m->intake, &delivery, &result, &failure);
	assert_int_equal(r == -EAGAIN, failure.text[0] != '\0');
	return r;
}

static void quotas(void **state)
{
	struct intake_limits limits = INTAKE_LIMITS;
	struct made *m = *state;

	limits.logs = 2;
	limits.parked = 800;
	limits.disk = strlen(m->lines[1]) + strlen(m->lines[2]) + 10;
	intake_limit(m->intake, &limits);
	assert_int_equal(try_to_deliver(m, LOG, m->lines[1]), 0);
	assert_int_equal(try_to_deliver(m, "01a2-4", m->lines[1]), 0);
	assert_int_equal(try_to_deliver(m, "01a2-5", m->lines[1]), -EAGAIN);
	assert_int_equal(try_to_deliver(m, LOG, m->lines[2]), -EAGAIN);
	assert_int_equal(try_to_deliver(m, LOG, m->lines[5]), 0);
	assert_int_equal(try_to_deliver(m, LOG, m->lines[7]), -EAGAIN);
	/* The control: another host has its own. */
	assert_int_equal(deliver(m, "cd34", false, m->lines[1]), INTAKE_TAKEN);
}

static size_t next_later(struct made *m, const char *after, struct later_entry entries[4])
{
	size_t count;

	assert_int_equal(later_next(intake_later(m->intake), after, entries, 4, &count, NULL), 0);
	return count;
}

static void later_goes_round(void **state)
{
	static const char *const hosts[] = {"aa", "bb"};
	struct delivery delivery = {.log = LOG, .first = 5, .last = 9};
	struct later_entry entries[4];
	struct made *m = *state;
	struct later *later = intake_later(m->intake);

	for (unsigned int i = 0; i < 4; i++) {
		strcpy(delivery.host, hosts[i % 2]);
		assert_int_equal(intake_defer(m->intake, &delivery, LATER_RECORDS, 10 + i, false,
					      "", NULL),
				 0);
	}
	assert_int_equal(intake_is_spent(m->intake, "aa", SHARE_BULK, false, NULL), 1);
	assert_int_equal(intake_is_spent(m->intake, "aa", SHARE_FIRST, false, NULL), 0);
	assert_int_equal(intake_is_spent(m->intake, "cc", SHARE_BULK, true, NULL), 0);
	assert_int_equal(next_later(m, "", entries), 2);
	assert_string_equal(entries[0].host, "aa");
	assert_int_equal(entries[1].number, 12);
	/* One that was begun with and not ended comes alone. */
	assert_int_equal(next_later(m, "zz", entries), 1);
	assert_int_equal(entries[0].tries, 1);
	assert_int_equal(later_done(later, &entries[0], NULL), 0);
	assert_int_equal(next_later(m, "aa", entries), 2);
	assert_string_equal(entries[0].host, "bb");
	assert_int_equal(later_hold(later, &entries[0], "x", NULL), 0);
	assert_int_equal(later_done(later, &entries[1], NULL), 0);
	assert_int_equal(later_has(later, "bb", NULL), 0);
	assert_int_equal(later_release(later, "bb", LOG, 4, NULL), 0);
	assert_int_equal(later_has(later, "bb", NULL), 0);
	assert_int_equal(later_release(later, "bb", LOG, 5, NULL), 0);
	assert_int_equal(later_has(later, "bb", NULL), 1);
	assert_int_equal(number_of(m, "SELECT sum(count) FROM later_counts"), 2);
}

static void too_many_are_dropped(void **state)
{
	struct intake_limits limits = INTAKE_LIMITS;
	struct delivery delivery = {.host = HOST, .log = LOG};
	struct made *m = *state;

	limits.later = 3;
	intake_limit(m->intake, &limits);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(intake_defer(m->intake, &delivery, LATER_RECORDS, 10 + i, true, "",
					      NULL),
				 0);
	assert_int_equal(number_of(m, "SELECT count(*) FROM later"), 3);
	assert_int_equal(number_of(m, "SELECT count FROM excess"), 2);
}

static void second_store_is_refused(void **state)
{
	struct made *m = *state;
	struct intake *second;
	struct failure failure = {};

	assert_int_equal(intake_open(m->directory, 0, &second, &failure), -EBUSY);
	assert_non_null(strstr(failure.text, "another cordon-fleet store"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

/* Those whose word is overdue are asked for once, and again after their next one. */
static void shippers_are_asked_for_once(void **state)
{
	struct made *m = *state;
	struct presence presence = {.host = HOST,
				    .log = "01a2013c-58d6-7f6f-8e64-000000000001",
				    .state = PRESENCE_SHIPPING,
				    .daemon = PRESENCE_RUNNING,
				    .every = 10,
				    .at = 1000};
	char host[DELIVERY_ID_SIZE];
	struct failure failure = {};

	for (unsigned int word = 0; word < 2; word++) {
		assert_int_equal(intake_presence(m->intake, &presence, &failure), 0);
		assert_int_equal(number_of(m, "SELECT closed FROM presence"), 0);
		/* It is not overdue yet, or nobody can tell any more. */
		assert_int_equal(intake_overdue(m->intake, 0, 1020, host, &failure), -ENOENT);
		assert_int_equal(intake_overdue(m->intake, 1001, 1100, host, &failure), -ENOENT);
		/* What is said of one that was not asked for is an answer to something else. */
		assert_int_equal(intake_closed(m->intake, HOST, 1021, &failure), 0);
		assert_int_equal(number_of(m, "SELECT closed FROM presence"), 0);
		assert_int_equal(intake_overdue(m->intake, 1000, 1021, host, &failure), 0);
		assert_string_equal(host, HOST);
		assert_int_equal(intake_overdue(m->intake, 1000, 1021, host, &failure), -ENOENT);
		assert_int_equal(intake_closed(m->intake, HOST, 1021, &failure), 0);
		assert_int_equal(number_of(m, "SELECT closed FROM presence"), 1021);
	}
	/* One that said that it leaves is not missed. */
	presence.state = PRESENCE_LEAVING;
	assert_int_equal(intake_presence(m->intake, &presence, &failure), 0);
	assert_int_equal(intake_overdue(m->intake, 0, 9000, host, &failure), -ENOENT);
	assert_int_equal(number_of(m, "SELECT count(*) FROM presence"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_order_and_again),
		TEST(out_of_order_waits),
		TEST(first_lane_is_covered_later),
		TEST(invented_early_record_is_told),
		TEST(hostile_deliveries_are_kept_apart),
		TEST(dies_before_the_commit),
		TEST(rows_are_made_of_logs),
		TEST(torn_line_is_cut_off),
		TEST(cut_log_is_told),
		TEST(begins_behind_a_deletion_on_record),
		TEST(what_waits_has_rows),
		TEST(skipped_records_are_given_up),
		TEST(run_begins_after_a_restart),
		TEST(quotas),
		TEST(later_goes_round),
		TEST(too_many_are_dropped),
		TEST(second_store_is_refused),
		TEST(shippers_are_asked_for_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
