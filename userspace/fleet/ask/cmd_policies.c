/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet policies`: shows which version of each policy is active on which hosts. */
#include <inttypes.h>
#include <string.h>

#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/store/fleet_commands.h"

/* Number of digits shown of a digest. */
#define DIGEST_SHOWN 16

static const char help[] =
	"usage: cordon-fleet policies [OPTION]... [--json]\n"
	"\n"
	"Shows for each policy the digests of its compiled tables, and the hosts where\n"
	"each digest was the last active one. A policy with several digests has drifted.\n"
	"\n"
	"Exit status: 0 without drift, 1 with drift, 2 if the arguments are wrong or the\n"
	"store cannot be read.\n"
	"\n";

/* Selects the digest used last, for each host and policy name. */
static const char sql[] =
	"WITH latest AS (SELECT host, name, digest, max(last_time) AS time FROM policies GROUP BY host, name)"
	" SELECT l.name, l.digest, count(*), max(l.time),"
	"  group_concat(CASE WHEN h.name IS NULL THEN substr(h.host, 1, 12)"
	"   WHEN (SELECT count(*) FROM hosts m WHERE m.name = h.name) > 1 THEN h.name || '(' || substr(h.host, 1, 12) || ')'"
	"   ELSE h.name END, ', '),"
	"  (SELECT count(DISTINCT m.digest) FROM latest m WHERE m.name = l.name)"
	" FROM latest l JOIN hosts h ON h.id = l.host GROUP BY l.name, l.digest ORDER BY l.name, count(*) DESC, l.digest";

static const char *text_at(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

static void print_row(sqlite3_stmt *statement, const struct style *style, char before[256])
{
	const char *name = text_at(statement, 0);
	int digests = sqlite3_column_int(statement, 5);

	if (strncmp(before, name, 255) != 0) {
		style_text_in(stdout, style, STYLE_NAME, name, 0);
		if (digests > 1)
			printf("  %d digests: drift", digests);
		putchar('\n');
		(void)snprintf(before, 256, "%s", name);
	}
	printf("  ");
	style_text_in(stdout, style, digests > 1 ? STYLE_WARN : STYLE_PLAIN, text_at(statement, 1),
		      DIGEST_SHOWN + 3);
	printf("  %" PRId64 " %s  last %.19s  ", (int64_t)sqlite3_column_int64(statement, 2),
	       sqlite3_column_int64(statement, 2) == 1 ? "host " : "hosts", text_at(statement, 3));
	style_text_in(stdout, style, STYLE_PLAIN, text_at(statement, 4), 100);
	putchar('\n');
}

static void print_json(sqlite3_stmt *statement)
{
	json_t *object = json_pack("{s:s, s:s, s:I, s:s, s:s, s:b}", "policy",
				   text_at(statement, 0), "digest", text_at(statement, 1), "hosts",
				   (json_int_t)sqlite3_column_int64(statement, 2), "last",
				   text_at(statement, 3), "on", text_at(statement, 4), "drift",
				   sqlite3_column_int(statement, 5) > 1);

	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

/* Returns the exit status. */
static int print_all(struct fleet_view *view, const struct fleet_options *options,
		     const struct style *style)
{
	sqlite3_stmt *statement = NULL;
	char before[256] = "";
	int r, status = EXIT_SUCCESS;

	if (sqlite3_prepare_v2(rows_database(view->rows), sql, -1, &statement, NULL) != SQLITE_OK) {
		message("cannot read the store's rows: %s",
			sqlite3_errmsg(rows_database(view->rows)));
		return EXIT_USAGE;
	}
	while ((r = sqlite3_step(statement)) == SQLITE_ROW) {
		if (options->json)
			print_json(statement);
		else
			print_row(statement, style, before);
		if (sqlite3_column_int(statement, 5) > 1)
			status = EXIT_FAILURE;
	}
	if (r != SQLITE_DONE) {
		message("cannot read the store's rows: %s",
			sqlite3_errmsg(rows_database(view->rows)));
		status = EXIT_USAGE;
	}
	sqlite3_finalize(statement);
	return status;
}

int fleet_command_policies(int argc, char **argv)
{
	struct style style = terminal_style(stdout);
	struct fleet_options options;
	struct fleet_view view;
	int status = fleet_options_parse(&options, "policies", help, argc, argv);

	if (status >= 0)
		return status;
	if (fleet_view_open(&options, &view) < 0)
		return EXIT_USAGE;
	status = print_all(&view, &options, &style);
	if (status != EXIT_USAGE)
		fleet_view_finish(&view, &options, &style);
	fleet_view_close(&view);
	return terminal_finish(stdout, status);
}
