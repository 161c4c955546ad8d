/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet store skip`: gives up missing records, so that the chain covers the later ones. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "fleet/store/fleet_commands.h"
#include "fleet/store/intake.h"

/* How long to wait for the running store. */
#define WAIT_NSEC (30 * NSEC_PER_SEC)

static const char help[] =
	"usage: cordon-fleet store skip HOST LOG SEQ --reason TEXT [--store DIR]\n"
	"\n"
	"Gives up the missing records of a log that include SEQ, so that the chain covers\n"
	"the records after them. Query results then list the number of records given up.\n"
	"Records deleted by the host's own retention need no skip. HOST and LOG are ids,\n"
	"as in the output of `cordon-fleet hosts` and `ask --json`. Works with or without\n"
	"a running store.\n"
	"\n"
	"      --reason TEXT  the reason, which is stored; at most 200 bytes\n"
	"      --store DIR    the store's directory (" DEFAULT_STORE_DIRECTORY ")\n"
	"  -h, --help         print this help\n"
	"\n"
	"Exit status: 0 if the records are given up, 1 if not, 2 if the arguments are\n"
	"wrong.\n"
	"\n"
	"example: cordon-fleet store skip 5c04cde4a12c886ff55ccaac34f5aebf \\\n"
	"             01a2013c-58d6-7f6f-8e64-000000000001 51 --reason 'disk lost on 2026-11-20'\n";

struct skip {
	const char *directory, *host, *log, *reason;
	uint64_t sequence;
};

enum { OPTION_STORE = 256, OPTION_REASON };

static const struct option options[] = {
	{"store", required_argument, NULL, OPTION_STORE},
	{"reason", required_argument, NULL, OPTION_REASON},
	{"help", no_argument, NULL, 'h'},
	{},
};

static int run_sql(struct rows *rows, const char *sql, const struct skip *skip, int64_t *ret_number)
{
	sqlite3_stmt *statement = NULL;
	int step = SQLITE_ERROR;

	if (sqlite3_prepare_v2(rows_database(rows), sql, -1, &statement, NULL) == SQLITE_OK) {
		(void)sqlite3_bind_text(statement, 1, skip->host, -1, SQLITE_STATIC);
		(void)sqlite3_bind_text(statement, 2, skip->log, -1, SQLITE_STATIC);
		(void)sqlite3_bind_int64(statement, 3, (sqlite3_int64)skip->sequence);
		(void)sqlite3_bind_text(statement, 4, skip->reason, -1, SQLITE_STATIC);
		step = sqlite3_step(statement);
		if (step == SQLITE_ROW)
			*ret_number = sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	if (step == SQLITE_ROW || step == SQLITE_DONE)
		return 0;
	message("cannot write the store's rows: %s", sqlite3_errmsg(rows_database(rows)));
	return -EIO;
}

/* Returns 1 if the record is given up, 0 if not, or -ERRNO. */
static int64_t is_given_up(struct rows *rows, const struct skip *skip)
{
	static const char sql[] =
		"SELECT count(*) FROM holes h JOIN logs l ON l.id = h.log JOIN hosts o ON o.id = l.host"
		" WHERE o.host = ?1 AND l.log = ?2 AND h.first <= ?3 AND h.last >= ?3 AND ?4 IS NOT NULL";
	int64_t number = 0;
	int r = run_sql(rows, sql, skip, &number);

	return r < 0 ? r : number > 0;
}

/* Places an order for the running store, which checks for orders twice a second. */
static int order(const struct skip *skip)
{
	static const char put[] = "INSERT OR REPLACE INTO skips VALUES(?1, ?2, ?3, ?4)";
	static const char look[] =
		"SELECT count(*) FROM skips WHERE host = ?1 AND log = ?2 AND ?3 > 0 AND ?4 IS NOT NULL";
	uint64_t until = clock_nsec(CLOCK_MONOTONIC) + WAIT_NSEC;
	struct failure failure = {};
	struct rows *rows = NULL;
	int64_t left = 1;
	int r = rows_open(skip->directory, true, &rows, &failure);

	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	r = run_sql(rows, put, skip, &left);
	while (r == 0 && left > 0 && clock_nsec(CLOCK_MONOTONIC) < until) {
		(void)nanosleep(&(struct timespec){.tv_nsec = 100 * (long)NSEC_PER_MSEC}, NULL);
		r = run_sql(rows, look, skip, &left);
	}
	if (r == 0 && left > 0)
		message("the running store has not carried out the order within %llu s; it will when it can",
			(unsigned long long)(WAIT_NSEC / NSEC_PER_SEC));
	if (r == 0 && left == 0 && is_given_up(rows, skip) <= 0) {
		message("the running store rejected the order; its own messages have the reason");
		left = 1;
	}
	rows_close(rows);
	return r == 0 && left == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(const struct skip *skip)
{
	_cleanup_(intake_closep) struct intake *intake = NULL;
	struct failure failure = {};
	int r = intake_open(skip->directory, 0, &intake, &failure);

	if (r == -EBUSY)
		return order(skip);
	if (r == 0)
		r = intake_begin(intake, &failure);
	if (r == 0)
		r = intake_skip(intake, skip->host, skip->log, skip->sequence, skip->reason,
				&failure);
	if (r == 0)
		r = intake_commit(intake, &failure);
	if (r < 0)
		message("%s", failure.text);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool is_sequence(const char *text, uint64_t *ret_sequence)
{
	char *end;

	errno = 0;
	*ret_sequence = strtoull(text, &end, 10);
	return text[0] >= '1' && text[0] <= '9' && !*end && !errno && *ret_sequence < INT64_MAX;
}

int fleet_command_store_skip(int argc, char **argv)
{
	struct skip skip = {.directory = DEFAULT_STORE_DIRECTORY};
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		case OPTION_STORE:
			skip.directory = optarg;
			break;
		case OPTION_REASON:
			skip.reason = optarg;
			break;
		default:
			message("see `cordon-fleet store skip --help`");
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 3 || !skip.reason || !skip.reason[0] || strlen(skip.reason) > 200 ||
	    !is_sequence(argv[optind + 2], &skip.sequence)) {
		message("store skip: takes HOST LOG SEQ and --reason; see `cordon-fleet store skip --help`");
		return EXIT_USAGE;
	}
	skip.host = argv[optind];
	skip.log = argv[optind + 1];
	if (!delivery_id_is_valid(skip.host) || !delivery_id_is_valid(skip.log)) {
		message("store skip: a host's id has digits 0-9 and a-f, and a log's those and '-'");
		return EXIT_USAGE;
	}
	return run(&skip);
}
