/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon-fleet could`: lists the hosts on which some task could have had an access. */
#include <inttypes.h>
#include <string.h>

#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/terminal.h"
#include "fleet/ask/could.h"
#include "fleet/ask/fleet_options.h"
#include "fleet/store/fleet_commands.h"

#define NAME_WIDTH   16
#define POLICY_WIDTH 20
#define DIGEST_SHOWN 16
#define TEXT_SHOWN   100

static const char help[] =
	"usage: cordon-fleet could RIGHT OBJECT [OPTION]... [--json]\n"
	"\n"
	"Decides for each host, and each policy version that was active there, whether a\n"
	"task could have had an access. Evaluates the same tables as the kernel. RIGHT\n"
	"and OBJECT are as for `cordon policy explain`. Variables of a policy have the\n"
	"values of the logged executions; the output counts executions that could.\n"
	"\n"
	"Shows policies that permit the access, and policies that are not stored.\n"
	"\n"
	"Exit status: 0 if any could, 1 if none could, 2 if there is no result: the\n"
	"arguments are wrong, the store cannot be read, or only unstored policies remain.\n"
	"\n"
	"      --host H              on this host: its name, or a prefix of its id\n"
	"      --since T             policies that were active since then\n"
	"      --all                 also policies that could not; --json always has them\n";

static const char sql[] =
	"SELECT h.host, h.name, p.name, p.digest, p.last_time FROM policies p JOIN hosts h ON h.id = p.host"
	" WHERE (?1 IS NULL OR h.name = ?1 OR substr(h.host, 1, length(?1)) = ?1)"
	"  AND (?2 IS NULL OR p.last_time >= ?2) ORDER BY coalesce(h.name, h.host), h.host, p.name, p.last_time";

enum { OPTION_HOST = 1024, OPTION_SINCE, OPTION_ALL };

struct command {
	struct fleet_options fleet;
	const char *host, *since;
	char moment[CLOCK_TEXT_SIZE];
	bool all;
	struct could_question question;
	const struct host_states *states;
	struct style style;
	uint64_t counts[COULD_UNKNOWN + 1];
	bool observed; /* a policy in observe mode would have denied it */
};

static const char *verdict_text(const struct could_answer *answer)
{
	static const char *const texts[] = {
		[COULD_NOT] = "no", [COULD] = "yes", [COULD_SOME] = "some", [COULD_UNKNOWN] = "?"};

	return answer->verdict == COULD_NOT && answer->observe ? "observed"
							       : texts[answer->verdict];
}

static void print_json(const struct could_use *use, const char *last,
		       const struct could_answer *answer)
{
	json_t *rule = answer->file ? json_pack("{s:s, s:i, s:s?}", "file", answer->file, "line",
						(int)answer->line, "text", answer->text)
				    : json_null();
	json_t *could = answer->verdict == COULD_UNKNOWN
				? json_null()
				: json_boolean(answer->verdict != COULD_NOT || answer->observe);
	json_t *object = json_pack(
		"{s:{s:s, s:s?}, s:s, s:s, s:s, s:o, s:b, s:s, s:I, s:s?, s:b, s:b, s:o}", "host",
		"id", use->host, "name", use->name, "policy", use->policy, "digest", use->digest,
		"last", last, "could", could, "observe", answer->observe, "verdict",
		verdict_text(answer), "executions", (json_int_t)answer->executions, "execution",
		answer->executions > 0 ? answer->execution : NULL, "but_for_own_addresses",
		answer->but_for_own, "if_own", answer->if_own, "rule", rule);

	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static void print_why(const struct command *c, const struct could_answer *answer)
{
	switch (answer->verdict) {
	case COULD_UNKNOWN:
		fputs("the policy is not here", stdout);
		return;
	case COULD_SOME:
		printf("%" PRIu64 " execution%s, as ", answer->executions,
		       answer->executions == 1 ? "" : "s");
		style_text_in(stdout, &c->style, STYLE_NAME, answer->execution, 0);
		fputs("  ", stdout);
		break;
	case COULD_NOT:
		if (!answer->file)
			fputs("no rule grants it", stdout);
		break;
	case COULD:
		if (answer->but_for_own)
			fputs("but for the host's own addresses  ", stdout);
		if (answer->if_own)
			fputs("if it had made it itself  ", stdout);
		break;
	}
	if (!answer->file)
		return;
	style_text_in(stdout, &c->style, STYLE_NAME, answer->file, 0);
	printf(":%" PRIu32 "  ", answer->line);
	style_text_in(stdout, &c->style, STYLE_PLAIN, answer->text ? answer->text : "", TEXT_SHOWN);
}

static void print_row(const struct command *c, const struct could_use *use, const char *last,
		      const struct could_answer *answer)
{
	struct completeness_host host = {.host = (char *)use->host, .name = (char *)use->name};
	const char *verdict = verdict_text(answer);
	bool good = strcmp(verdict, "no") == 0;
	const struct completeness_host *known = host_states_find(c->states, use->host);
	char buffer[COMPLETENESS_NAME_SIZE];
	size_t width;

	if (good && !c->all)
		return;
	width = style_text_in(stdout, &c->style, STYLE_NAME,
			      completeness_name(known ? known : &host, buffer), NAME_WIDTH);
	style_pad(stdout, NAME_WIDTH + 2 - width);
	width = style_text_in(stdout, &c->style, STYLE_PLAIN, use->policy, POLICY_WIDTH);
	style_pad(stdout, POLICY_WIDTH + 2 - width);
	(void)style_text_in(stdout, &c->style, STYLE_DIM, use->digest, DIGEST_SHOWN + 3);
	printf("  %.19s  ", last);
	width = style_text_in(stdout, &c->style, good ? STYLE_GOOD : STYLE_WARN, verdict, 0);
	style_pad(stdout, 10 - width);
	print_why(c, answer);
	putchar('\n');
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "";
}

static int ask_one(struct command *c, sqlite3_stmt *row)
{
	const struct could_use use = {
		.host = text_at(row, 0),
		.name = (const char *)sqlite3_column_text(row, 1),
		.policy = text_at(row, 2),
		.digest = text_at(row, 3),
	};
	struct could_answer answer;
	struct failure failure = {};
	int r = could_ask(&c->question, &use, &answer, &failure);

	if (r < 0) {
		message("%s", failure.text);
		return r;
	}
	c->counts[answer.verdict]++;
	c->observed |= answer.verdict == COULD_NOT && answer.observe;
	if (c->fleet.json)
		print_json(&use, text_at(row, 4), &answer);
	else
		print_row(c, &use, text_at(row, 4), &answer);
	could_answer_release(&answer);
	return 0;
}

static int ask_all(struct command *c, struct rows *rows)
{
	sqlite3_stmt *row = NULL;
	int r = 0, step;

	if (sqlite3_prepare_v2(rows_database(rows), sql, -1, &row, NULL) != SQLITE_OK) {
		message("cannot read the store's rows: %s", sqlite3_errmsg(rows_database(rows)));
		return -EIO;
	}
	sqlite3_bind_text(row, 1, c->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(row, 2, c->since, -1, SQLITE_STATIC);
	while (r == 0 && (step = sqlite3_step(row)) == SQLITE_ROW)
		r = ask_one(c, row);
	if (r == 0 && step != SQLITE_DONE) {
		message("cannot read the store's rows: %s", sqlite3_errmsg(rows_database(rows)));
		r = -EIO;
	}
	sqlite3_finalize(row);
	return r;
}

/* Returns the exit status. */
static int answer(struct command *c)
{
	struct fleet_view view;
	uint64_t could;
	int r;

	if (fleet_view_open(&c->fleet, &view) < 0)
		return EXIT_USAGE;
	c->states = &view.states;
	c->question.store = c->fleet.store;
	c->question.rows = view.rows;
	c->question.clickhouse = view.clickhouse;
	r = ask_all(c, view.rows);
	could = c->counts[COULD] + c->counts[COULD_SOME];
	if (r == 0 && !c->fleet.json)
		printf("of %" PRIu64 " policies in use: %" PRIu64 " could, %" PRIu64
		       " could not, %" PRIu64 " not known\n",
		       could + c->counts[COULD_NOT] + c->counts[COULD_UNKNOWN], could,
		       c->counts[COULD_NOT], c->counts[COULD_UNKNOWN]);
	if (r == 0)
		fleet_view_finish(&view, &c->fleet, &c->style);
	fleet_view_close(&view);
	c->states = NULL;
	if (r < 0)
		return EXIT_USAGE;
	if (could > 0 || c->observed)
		return terminal_finish(stdout, EXIT_SUCCESS);
	return terminal_finish(stdout, c->counts[COULD_UNKNOWN] > 0 ? EXIT_USAGE : EXIT_FAILURE);
}

static int take_option(void *command, int option, const char *value)
{
	struct command *c = command;

	switch (option) {
	case OPTION_HOST:
		c->host = value;
		return 0;
	case OPTION_ALL:
		c->all = true;
		return 0;
	case OPTION_SINCE:
		c->since = c->moment;
		return fleet_options_since(value, c->moment);
	default:
		return -ENOENT;
	}
}

static int parse(int argc, char **argv, struct command *c)
{
	static const struct option own[] = {
		{"host", required_argument, NULL, OPTION_HOST},
		{"since", required_argument, NULL, OPTION_SINCE},
		{"all", no_argument, NULL, OPTION_ALL},
	};
	const struct fleet_command command = {"could", help, own, ARRAY_SIZE(own), take_option, c};
	int status = fleet_options_read(&c->fleet, &command, argc, argv);

	if (status >= 0)
		return status;
	if (argc - optind != 2) {
		message("could: name a right and an object; see `cordon-fleet could --help`");
		return EXIT_USAGE;
	}
	c->question.right = argv[optind];
	c->question.object = argv[optind + 1];
	return -1;
}

int fleet_command_could(int argc, char **argv)
{
	struct command c = {.style = terminal_style(stdout)};
	int status;

	fleet_options_init(&c.fleet);
	status = parse(argc, argv, &c);
	return status >= 0 ? status : answer(&c);
}
