/* SPDX-License-Identifier: Apache-2.0 */
/* cordon log verify */
#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "audit/seal/verify.h"
#include "base/hex.h"
#include "cli/term/commands.h"
#include "cli/log/log_command.h"
#include "cli/term/message.h"
#include "cli/term/progress.h"
#include "cli/log/seal_keys.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"

/* More problems, or notes, than this are counted, not told. */
#define TOLD_MAX 100

static const char help[] =
	"usage: cordon log verify [--log DIR] [--key KEY | --key-file FILE] [--json]\n"
	"\n"
	"Checks that no record of the log was changed, dropped, added or moved, and that\n"
	"no segment is missing. With the verification key that `cordon log setup-keys`\n"
	"showed, also that nothing that is sealed was written anew or cut off, be it by\n"
	"root: run it on another host, on a copy of the whole directory, for whoever\n"
	"reads the key can forge. Exits with 0 if the log is intact, 1 if not, 2 if it\n"
	"cannot be read.\n"
	"\n"
	"      --json           the result as JSON\n"
	"      --key KEY        the verification key; others on this host may see it\n"
	"                       meanwhile\n"
	"      --key-file FILE  a file that holds it; -: standard input\n"
	"                       Each may be given again, for a log whose key was\n"
	"                       replaced.\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

struct command {
	struct style style;
	bool json;
	struct progress progress;
	struct seal_keys keys;
	json_t *problems, *notes;
};

static void tell(struct command *c, json_t *list, enum style_role style, const char *text)
{
	if (json_array_size(list) >= TOLD_MAX)
		return;
	json_array_append_new(list, json_string(text));
	if (c->json)
		return;
	progress_end(&c->progress);
	style_text_in(stdout, &c->style, style, text, 0);
	putchar('\n');
}

static void on_problem(void *data, const char *text)
{
	struct command *c = data;

	tell(c, c->problems, STYLE_BAD, text);
}

static void on_note(void *data, const char *text)
{
	struct command *c = data;

	tell(c, c->notes, STYLE_WARN, text);
}

static void print_json(const struct command *c, const char *directory,
		       const struct verify_result *result, const char *chain)
{
	_cleanup_(json_decrefp) json_t *object = json_pack(
		"{s:s, s:b, s:I, s:I, s:I, s:O, s:I, s:O, s:I, s:{s:I, s:s}, s:I, s:{s:b, s:I, s:I, s:I, s:I, s:I}}",
		"directory", directory, "intact", result->problems == 0, "records",
		(json_int_t)result->records, "segments", (json_int_t)result->segments,
		"problem_count", (json_int_t)result->problems, "problems", c->problems,
		"note_count", (json_int_t)result->notes, "notes", c->notes, "torn_bytes",
		(json_int_t)result->torn_bytes, "last", "seq", (json_int_t)result->sequence,
		"chain", chain, "first", (json_int_t)result->first, "sealed", "with_key",
		c->keys.count > 0, "seals", (json_int_t)result->seals, "unchecked",
		(json_int_t)result->unchecked, "proven", (json_int_t)result->proven, "up_to",
		(json_int_t)result->sealed, "behind_damage", (json_int_t)result->behind);

	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
}

/* With damage, the proof ends at the last good seal before it. */
static void print_proof(const struct verify_result *result)
{
	unsigned long long behind = result->sequence - result->sealed;

	if (result->sealed == 0)
		puts(result->behind > 0 ? "nothing is proven: the damage lies before the first seal"
					: "no seal is good: nothing is proven");
	else
		printf("proven by %llu seal%s up to seq %llu; ", (unsigned long long)result->proven,
		       result->proven == 1 ? "" : "s", (unsigned long long)result->sealed);
	if (result->sealed > 0 && result->problems > 0)
		puts("no further, since the log is damaged");
	else if (result->sealed > 0)
		printf("%llu record%s behind it %s only chained\n", behind, behind == 1 ? "" : "s",
		       behind == 1 ? "is" : "are");
	if (result->behind > 0)
		printf("behind the damage, seals up to seq %llu are good: the records that are chained to "
		       "them are as they were\n",
		       (unsigned long long)result->behind);
}

static void print_seals(const struct command *c, const struct verify_result *result)
{
	unsigned long long seals = result->seals;

	if (c->keys.count > 0)
		print_proof(result);
	else if (seals > 0)
		printf("%llu seal%s not checked: give the verification key with --key-file\n",
		       seals, seals == 1 ? "" : "s");
	else
		puts("not sealed: whoever may write the file could have written all anew; see "
		     "`cordon log setup-keys --help`");
}

static void print_text(const struct command *c, const char *directory,
		       const struct verify_result *result, const char *chain)
{
	bool intact = result->problems == 0;

	style_text_in(stdout, &c->style, intact ? STYLE_GOOD : STYLE_BAD,
		      intact ? "intact" : "NOT INTACT", 0);
	printf("  %llu records in ", (unsigned long long)result->records);
	style_text(stdout, &c->style, directory);
	if (!intact)
		printf(", %llu problem%s", (unsigned long long)result->problems,
		       result->problems == 1 ? "" : "s");
	if (result->torn_bytes && intact)
		printf(", one more is being written");
	printf("\nlast record: seq %llu, chain %s\n", (unsigned long long)result->sequence, chain);
	print_seals(c, result);
}

static int verify(struct command *c, const char *directory)
{
	const struct verify_options options = {
		.keys = c->keys.keys,
		.key_count = c->keys.count,
		.problem = on_problem,
		.note = on_note,
		.progress = progress_step,
		.progress_data = &c->progress,
		.data = c,
	};
	struct failure failure = {};
	struct verify_result result;
	char chain[SHA256_TEXT_SIZE];
	int r;

	progress_begin(&c->progress, "checking the log", false);
	r = verify_log(directory, &options, &result, &failure);
	progress_end(&c->progress);
	if (r < 0) {
		message("%s", failure.text[0] ? failure.text : strerror(-r));
		return 2;
	}
	hex_encode(result.chain, sizeof(result.chain), chain);
	if (c->json)
		print_json(c, directory, &result, chain);
	else
		print_text(c, directory, &result, chain);
	return result.problems == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int log_command_verify(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},	    {"key", required_argument, NULL, 'k'},
		{"key-file", required_argument, NULL, 'f'}, {"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},	    {NULL, 0, NULL, 0},
	};
	const char *directory = DEFAULT_LOG_DIRECTORY;
	struct command c = {.style = terminal_style(stdout)};
	int option, status;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'j':
			c.json = true;
			break;
		case 'k':
			if (!seal_keys_take(&c.keys, optarg))
				return 2;
			break;
		case 'f':
			if (!seal_keys_read(&c.keys, optarg))
				return 2;
			break;
		case 'l':
			directory = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(help, stderr);
			return 2;
		}
	}
	if (optind != argc) {
		message("log verify takes no arguments");
		fputs(help, stderr);
		return 2;
	}
	c.problems = json_array();
	c.notes = json_array();
	if (!c.problems || !c.notes) {
		message("out of memory");
		return 2;
	}
	status = terminal_finish(stdout, verify(&c, directory));
	json_decref(c.problems);
	json_decref(c.notes);
	seal_keys_erase(&c.keys);
	return status;
}
