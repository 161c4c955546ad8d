/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon events`: shows records as they come, and those before. */
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "audit/read/reader.h"
#include "audit/record/record.h"
#include "base/uuid.h"
#include "cli/log/find.h"
#include "cli/log/resume.h"
#include "cli/term/commands.h"
#include "cli/term/choose_word.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/story/line.h"
#include "insight/text/view.h"

/* How often a log that is followed is looked at. */
#define FOLLOW_MSEC 200

/* Once a minute, and of interest to whoever misses it. */
#define HEARTBEAT "agent-heartbeat"

/* What `-f` shows of what was there before. */
#define FOLLOW_LINES 10

static const char help[] =
	"usage: cordon events [-f] [-n N] [-o compact|json] [--log DIR] [--execution ID]\n"
	"                     [--after SEQ] [--cursor FILE] [--heartbeats]\n"
	"\n"
	"Shows the audit log, one record a line.\n"
	"\n"
	"  -f, --follow         go on as records are written, until Ctrl-C\n"
	"  -n, --lines N        the last N records only (with -f: 10)\n"
	"  -o, --output FORMAT  compact: for people; json: the records\n"
	"      --execution ID   of this execution only, by the beginning or end of its id\n"
	"      --after SEQ      only records behind this one\n"
	"      --cursor FILE    go on behind what was shown before, which FILE says, and\n"
	"                       note there how far that is; made if it is not there\n"
	"      --heartbeats     also those in which the daemon says each minute that it\n"
	"                       is there; with -o json they are among the records in any\n"
	"                       case\n"
	"      --utc            times in UTC, not local ones\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

struct events {
	const char *directory;
	const char *execution; /* beginning or end of an id, or NULL */
	bool follow, json;
	bool heartbeats; /* are shown, too */
	bool tail;	 /* only the last `lines` of what is there at first */
	size_t lines;
	struct style style;
	struct line_day day; /* of the line before */
	/* the last `lines` records, until the end is seen for the first time */
	json_t **kept;
	size_t kept_count, kept_next;
	unsigned long long problems;
	struct resume resume;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static bool wanted(const struct events *e, const json_t *record)
{
	const char *id = view_text(record, "cordon.execution.id");

	if (!e->heartbeats && !e->json && view_is(record, HEARTBEAT) && !view_damage(record))
		return false;
	return !e->execution || (id && uuid_is_named(id, strlen(id), e->execution));
}

static void show(struct events *e, const json_t *record)
{
	if (!e->json) {
		line_day(stdout, &e->style, &e->day, record);
		line_write(stdout, &e->style, record);
		return;
	}
	json_dumpf(record, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
}

/* Keeps the record for later if only the last ones are to be shown. */
static void take(struct events *e, json_t *record)
{
	if (!e->tail) {
		show(e, record);
		return;
	}
	if (e->lines == 0)
		return;
	if (e->kept_count < e->lines)
		e->kept_count++;
	else
		json_decref(e->kept[e->kept_next]);
	e->kept[e->kept_next] = json_incref(record);
	e->kept_next = (e->kept_next + 1) % e->lines;
}

static void show_kept(struct events *e)
{
	for (size_t i = 0; i < e->kept_count; i++) {
		size_t at = (e->kept_next + e->lines - e->kept_count + i) % e->lines;

		show(e, e->kept[at]);
		json_decref(e->kept[at]);
	}
	e->kept_count = 0;
	e->tail = false;
}

/* All there is now. 0, or what keeps from reading on. */
static int drain(struct events *e, struct audit_reader *reader)
{
	while (!stopped && !ferror(stdout)) {
		_cleanup_(json_decrefp) json_t *record = NULL;
		struct failure failure = {0};
		int r = audit_reader_next(reader, &record, &failure);

		if (r == -ENODATA)
			return 0;
		if (r < 0) {
			e->problems++;
			message("%s", failure.text);
			if (r != -EBADMSG)
				return r;
		}
		if (record && wanted(e, record))
			take(e, record);
	}
	return 0;
}

/* Waits a moment; false: whoever reads our output is gone. */
static bool pause_following(void)
{
	/* No events are asked for: an error on the other side is reported all the same. */
	struct pollfd output = {.fd = STDOUT_FILENO};

	return poll(&output, 1, FOLLOW_MSEC) <= 0 || !(output.revents & (POLLERR | POLLNVAL));
}

static int open_reader(const struct events *e, struct audit_reader **ret_reader)
{
	bool told = false;

	for (;;) {
		struct failure failure = {0};
		int r = audit_reader_open(e->directory, ret_reader, &failure);

		if (r == 0)
			return 0;
		if (r != -ENOENT || !e->follow || stopped) {
			if (!stopped)
				message("%s", failure.text);
			return r;
		}
		if (!told)
			message("there is no log in %s yet; waiting", e->directory);
		told = true;
		if (!pause_following())
			return r;
	}
}

static int show_found(void *data, json_t *record)
{
	show(data, record);
	return ferror(stdout) ? -ECANCELED : 0;
}

/* The last ones, from the end of the log: what comes before them is not read. */
static int show_last(struct events *e)
{
	char id[UUID_TEXT_SIZE];
	const struct audit_query query = {.execution = e->execution ? id : NULL};
	const struct search_options options = {
		.limit = e->lines,
		.no_index = !e->execution,
		.but_action = e->heartbeats || e->json ? NULL : HEARTBEAT,
	};
	int status = EXIT_FAILURE, r;

	snprintf(id, sizeof(id), "%s", e->execution ? e->execution : "");
	if (e->lines == 0)
		return EXIT_SUCCESS;
	r = find_records(e->directory, &query, &options, show_found, e, &status);
	/* Whoever reads has seen enough. */
	return r == -ECANCELED ? EXIT_SUCCESS : r == 0 ? status : EXIT_FAILURE;
}

static int show_behind(void *data, json_t *record)
{
	struct events *e = data;

	if (wanted(e, record))
		show(e, record);
	return ferror(stdout) ? -ECANCELED : 0;
}

static int run(struct events *e)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	int r;

	if (open_reader(e, &reader) < 0)
		return stopped ? EXIT_SUCCESS : EXIT_FAILURE;
	r = drain(e, reader);
	show_kept(e);
	fflush(stdout);
	while (e->follow && r == 0 && !stopped && !ferror(stdout) && pause_following()) {
		r = drain(e, reader);
		fflush(stdout);
	}
	return r == 0 && e->problems == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool parse_lines(const char *text, size_t *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || value > 1000000)
		return false;
	*ret = value;
	return true;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct events *e)
{
	static const struct option options[] = {
		{"follow", no_argument, NULL, 'f'},
		{"lines", required_argument, NULL, 'n'},
		{"output", required_argument, NULL, 'o'},
		{"execution", required_argument, NULL, 'e'},
		{"log", required_argument, NULL, 'l'},
		{"utc", no_argument, NULL, 'u'},
		{"after", required_argument, NULL, 'a'},
		{"cursor", required_argument, NULL, 'c'},
		{"heartbeats", no_argument, NULL, 'b'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const char *const outputs[] = {"compact", "json"};
	int option, output;

	while ((option = read_option(argc, argv, "fn:o:h", options)) >= 0) {
		switch (option) {
		case 'f':
			e->follow = true;
			break;
		case 'n':
			if (!parse_lines(optarg, &e->lines)) {
				message("-n takes a number up to 1000000, not \"%s\"", optarg);
				return 2;
			}
			e->tail = true;
			break;
		case 'o':
			output = choose_word("-o", optarg, outputs, ARRAY_SIZE(outputs));
			if (output < 0)
				return 2;
			e->json = output == 1;
			break;
		case 'e':
			e->execution = optarg;
			break;
		case 'l':
			e->directory = optarg;
			break;
		case 'a':
			if (resume_take_after(&e->resume, optarg) < 0)
				return 2;
			break;
		case 'c':
			e->resume.cursor = optarg;
			break;
		case 'b':
			e->heartbeats = true;
			break;
		case 'u':
			moment_utc();
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind < argc) {
		message("events takes no argument \"%s\"", argv[optind]);
		fputs(help, stderr);
		return 2;
	}
	if (resume_is_wanted(&e->resume) && e->tail) {
		message("-n shows the last records, --after and --cursor those behind one: give one of them");
		return 2;
	}
	if (e->follow && !e->tail) {
		e->tail = true;
		e->lines = FOLLOW_LINES;
	}
	return -1;
}

int cmd_events(int argc, char **argv)
{
	struct events e = {.directory = DEFAULT_LOG_DIRECTORY};
	struct sigaction action = {.sa_handler = stop};
	int status = parse(argc, argv, &e);

	if (status >= 0)
		return status;
	e.style = terminal_style(stdout);
	if (resume_is_wanted(&e.resume)) {
		e.resume.directory = e.directory;
		e.resume.follow = e.follow;
		return resume_run(&e.resume, NULL, show_behind, &e);
	}
	e.kept = calloc(e.lines + 1, sizeof(json_t *));
	if (!e.kept) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	/* Leave at a whole line; a reader that is gone is noticed by the write. */
	if (e.follow) {
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
	}
	status = terminal_finish(stdout, e.tail && !e.follow ? show_last(&e) : run(&e));
	free(e.kept);
	return status;
}
