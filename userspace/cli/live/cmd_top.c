/* SPDX-License-Identifier: Apache-2.0 */
/* cordon top: the live executions as they go on, busiest first. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/term/commands.h"
#include "cli/live/live_table.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/screen.h"
#include "cli/term/terminal.h"
#include "control/client.h"

#define DEFAULT_SECONDS 2
#define MAX_SECONDS	3600

static const char help[] =
	"usage: cordon top [--interval SECONDS] [--json]\n"
	"\n"
	"Shows the executions that are live, busiest first, until q or Ctrl-C: what\n"
	"`cordon ps` shows, with the share of one CPU that each has had since the last\n"
	"look. Where standard output is no terminal, shows them once.\n"
	"\n"
	"      --interval SECONDS  between two looks (default: 2)\n"
	"      --json              once, for programs: status and executions, as one\n"
	"                          object\n"
	"  -h, --help              this text\n"
	"\n"
	"Exit status: 0 shown; 1 failed, or no daemon runs; 2 asked wrongly.\n";

struct snapshot {
	json_t *status, *executions;
	uint64_t when;
};

static void snapshot_release(struct snapshot *snapshot)
{
	json_decref(snapshot->status);
	json_decref(snapshot->executions);
	*snapshot = (struct snapshot){};
}

/* On a connection of its own: the daemon may be another one each time. */
static int look(struct snapshot *ret_snapshot, struct failure *failure)
{
	struct snapshot snapshot = {.when = clock_nsec(CLOCK_MONOTONIC)};
	_cleanup_(closep) int socket = -1;
	int r = client_connect(&socket, failure);

	if (r == 0)
		r = client_status(socket, &snapshot.status, failure);
	if (r == 0)
		r = client_list(socket, &snapshot.executions, failure);
	if (r < 0)
		snapshot_release(&snapshot);
	else
		*ret_snapshot = snapshot;
	return r;
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void write_header(FILE *out, const struct style *style, const struct snapshot *now)
{
	const char *problem = json_string_value(json_object_get(now->status, "log_problem"));
	char up[STYLE_QUANTITY_SIZE];

	style_duration((unsigned long long)number(now->status, "uptime_nsec"), up);
	style_begin(out, style, STYLE_GOOD);
	fputs("enforcing", out);
	style_end(out, style, STYLE_GOOD);
	fprintf(out,
		"  %" JSON_INTEGER_FORMAT " live, %" JSON_INTEGER_FORMAT
		" policies, %" JSON_INTEGER_FORMAT " clients; daemon up %s; %" JSON_INTEGER_FORMAT
		" records lost\n",
		number(now->status, "executions"), number(now->status, "policies"),
		number(now->status, "connections"), up, number(now->status, "records_lost"));
	if (problem && *problem) {
		style_text_in(out, style, STYLE_BAD, problem, style->width);
		putc('\n', out);
	}
	putc('\n', out);
}

static int write_snapshot(FILE *out, const struct style *style, const struct snapshot *now,
			  const struct snapshot *before, size_t rows)
{
	_cleanup_(json_decrefp) json_t *sorted = live_table_sorted(now->executions);
	const struct live_table table = {
		.executions = sorted,
		.before = before->executions,
		.interval_nsec = now->when - before->when,
		.rows = rows,
	};

	if (!sorted)
		return -ENOMEM;
	write_header(out, style, now);
	return live_table_write(out, style, &table);
}

/* --- once --------------------------------------------------------------------------------- */

static int show_once(bool json)
{
	struct snapshot now = {}, before = {};
	struct style style = terminal_style(stdout);
	struct failure failure = {};
	int status = EXIT_SUCCESS;

	if (look(&now, &failure) < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	if (json) {
		_cleanup_(json_decrefp) json_t *both =
			json_pack("{s:O,s:O}", "status", now.status, "executions", now.executions);

		if (!both || json_dumpf(both, stdout, JSON_COMPACT) < 0)
			status = EXIT_FAILURE;
		putchar('\n');
	} else if (write_snapshot(stdout, &style, &now, &before, 0) < 0) {
		status = EXIT_FAILURE;
	}
	snapshot_release(&now);
	return terminal_finish(stdout, status);
}

/* --- live --------------------------------------------------------------------------------- */

static void draw(const struct snapshot *now, const struct snapshot *before, const char *problem)
{
	struct style style = terminal_style(stdout);
	unsigned int columns, lines;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	screen_size(&columns, &lines);
	style.width = columns;
	if (problem)
		fprintf(out, "%s\nlooking again; q ends this\n", problem);
	else
		/*
		 * The header, the titles, "... and N more", and the last line, which stays empty.
		 */
		(void)write_snapshot(out, &style, now, before, lines > 8 ? lines - 6 : 2);
	if (fclose(out) == 0)
		screen_draw(text, size);
	free(text);
}

static int show_live(unsigned int seconds)
{
	struct snapshot now = {}, before = {};
	struct screen screen;
	int r = screen_open(&screen);

	if (r < 0) {
		message("cannot use the terminal: %s", strerror(-r));
		return EXIT_FAILURE;
	}
	do {
		struct failure failure = {};

		snapshot_release(&before);
		before = now;
		now = (struct snapshot){};
		r = look(&now, &failure);
		draw(&now, &before, r < 0 ? failure.text : NULL);
	} while (screen_wait(&screen, (int)seconds * 1000) != SCREEN_QUIT);
	screen_close(&screen);
	snapshot_release(&now);
	snapshot_release(&before);
	return EXIT_SUCCESS;
}

static int parse_seconds(const char *text, unsigned int *ret_seconds)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value < 1 || value > MAX_SECONDS) {
		message("top: --interval %s: seconds, 1 to %d", text, MAX_SECONDS);
		return -EINVAL;
	}
	*ret_seconds = (unsigned int)value;
	return 0;
}

int cmd_top(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"interval", required_argument, NULL, 'i'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	unsigned int seconds = DEFAULT_SECONDS;
	bool json = false;
	int c;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c == 'j') {
			json = true;
		} else if (c != 'i' || parse_seconds(optarg, &seconds) < 0) {
			message("see `cordon top --help`");
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		message("top: unexpected argument \"%s\"; see `cordon top --help`", argv[optind]);
		return EXIT_USAGE;
	}
	return json || !isatty(STDOUT_FILENO) ? show_once(json) : show_live(seconds);
}
