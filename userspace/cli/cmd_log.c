/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <signal.h>
#include <string.h>

#include "audit/reader.h"
#include "audit/record.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "cli/commands.h"
#include "cli/log_command.h"
#include "cli/message.h"
#include "cli/terminal.h"

/* More problems than this are counted, not told. */
#define PROBLEMS_TOLD 100

static const char help[] =
	"usage: cordon log verify [--log DIR] [--json]\n"
	"       cordon log query|index|export ...: find, index, export; each takes --help\n"
	"\n"
	"Checks that no record of the log was changed, dropped, added or moved. Exits with 0 if it\n"
	"is intact, 1 if not, 2 if it cannot be read.\n"
	"\n"
	"      --json           the result as JSON\n"
	"      --log DIR        the log's directory (/var/log/cordon)\n"
	"  -h, --help           this text\n";

struct verify {
	struct style style;
	bool json;
	json_t *problems;
};

static void tell_problem(void *data, const char *text)
{
	struct verify *v = data;

	if (json_array_size(v->problems) >= PROBLEMS_TOLD)
		return;
	json_array_append_new(v->problems, json_string(text));
	if (v->json)
		return;
	style_text_in(stdout, &v->style, STYLE_BAD, text, 0);
	putchar('\n');
}

static void print_json(const struct verify *v, const char *directory,
		       const struct audit_verification *result, const char *chain)
{
	_cleanup_(json_decrefp) json_t *object = json_pack(
		"{s:s, s:b, s:I, s:I, s:I, s:O, s:I, s:{s:I, s:s}}", "directory", directory,
		"intact", result->problems == 0, "records", (json_int_t)result->records, "segments",
		(json_int_t)result->segments, "problem_count", (json_int_t)result->problems,
		"problems", v->problems, "torn_bytes", (json_int_t)result->torn_bytes, "last",
		"seq", (json_int_t)result->sequence, "chain", chain);

	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
}

static void print_text(const struct verify *v, const char *directory,
		       const struct audit_verification *result, const char *chain)
{
	bool intact = result->problems == 0;

	style_text_in(stdout, &v->style, intact ? STYLE_GOOD : STYLE_BAD,
		      intact ? "intact" : "NOT INTACT", 0);
	printf("  %llu records in ", (unsigned long long)result->records);
	style_text(stdout, &v->style, directory);
	if (!intact)
		printf(", %llu problem%s", (unsigned long long)result->problems,
		       result->problems == 1 ? "" : "s");
	if (result->torn_bytes && intact)
		printf(", one more is being written");
	printf("\nlast record: seq %llu, chain %s\n", (unsigned long long)result->sequence, chain);
}

static int verify(struct verify *v, const char *directory)
{
	_cleanup_(audit_reader_closep) struct audit_reader *reader = NULL;
	struct audit_verification result;
	struct failure failure = {0};
	char chain[SHA256_TEXT_SIZE];

	if (audit_reader_open(directory, &reader, &failure) < 0 ||
	    audit_reader_verify(reader, tell_problem, v, &result, &failure) < 0) {
		message("%s", failure.text);
		return 2;
	}
	hex_encode(result.chain, sizeof(result.chain), chain);
	if (v->json)
		print_json(v, directory, &result, chain);
	else
		print_text(v, directory, &result, chain);
	return result.problems == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The command below `log` that has a file of its own, or NULL. */
static int (*find_command(const char *word))(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{"query", log_command_query},
		{"index", log_command_index},
		{"export", log_command_export},
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, word) == 0)
			return commands[i].run;
	return NULL;
}

int cmd_log(int argc, char **argv)
{
	int (*command)(int argc, char **argv) = argc > 1 ? find_command(argv[1]) : NULL;
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const char *directory = DEFAULT_LOG_DIRECTORY;
	struct verify v = {.style = terminal_style(stdout)};
	int option, status;

	if (command)
		return command(argc - 1, argv + 1);
	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			v.json = true;
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
	if (optind + 1 != argc || strcmp(argv[optind], "verify") != 0) {
		message("say what to do with the log: cordon log verify, query, index or export");
		fputs(help, stderr);
		return 2;
	}
	v.problems = json_array();
	if (!v.problems) {
		message("out of memory");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	status = terminal_finish(stdout, verify(&v, directory));
	json_decref(v.problems);
	return status;
}
