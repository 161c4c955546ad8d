/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon log index`: builds the index of a log, or brings it up to date. */
#include <jansson.h>
#include <string.h>

#include "audit/search/index.h"
#include "base/clock.h"
#include "cli/log/log_command.h"
#include "cli/term/interrupt.h"
#include "cli/term/message.h"
#include "cli/term/progress.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon log index [--rebuild] [--check] [--log DIR] [--json]\n"
	      "\n"
	      "Brings the index of a log up to date, by which queries find records fast.\n"
	      "Queries do so, too, where they may write. The index has nothing that the log has\n"
	      "not; it is built anew where it is damaged or does not agree with the log, and\n"
	      "may be removed at any time.\n"
	      "\n"
	      "      --rebuild        from nothing\n"
	      "      --check          look at all of the index first\n"
	      "      --json           the result as JSON\n"
	      "      --log DIR        the log's directory (/var/log/cordon)\n"
	      "  -h, --help           this text\n",
	      out);
}

static void print_json(const struct index_result *result, const char *directory, double seconds)
{
	json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:s?, s:f}", "directory",
				   directory, "added", (json_int_t)result->added, "records",
				   (json_int_t)result->records, "bytes", (json_int_t)result->bytes,
				   "skipped", (json_int_t)result->skipped, "built", result->built,
				   "why", result->why, "seconds", seconds);

	json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
}

static void print_text(const struct index_result *result, double seconds)
{
	printf("%llu records in the index, %llu of them new, in %.2f s",
	       (unsigned long long)result->records, (unsigned long long)result->added, seconds);
	if (result->added > 0 && seconds > 0)
		printf(" (%.0f a second)", (double)result->added / seconds);
	if (result->built)
		printf("; built anew: %s", result->why);
	putchar('\n');
	if (result->skipped > 0)
		printf("%llu lines are no records; see `cordon log verify`\n",
		       (unsigned long long)result->skipped);
}

static int update(const char *directory, bool rebuild, bool check, bool json)
{
	uint64_t start = clock_nsec(CLOCK_MONOTONIC);
	struct progress progress;
	const struct index_progress told = {progress_step, &progress, interrupt_hold()};
	struct index_result result;
	struct failure failure = {0};
	double seconds;
	int r;

	progress_begin(&progress, "indexing", false);
	r = index_update(directory, rebuild, check, &told, &result, &failure);
	progress_end(&progress);
	interrupt_release();
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	seconds = (double)(clock_nsec(CLOCK_MONOTONIC) - start) / 1e9;
	if (json)
		print_json(&result, directory, seconds);
	else
		print_text(&result, seconds);
	return terminal_finish(stdout, EXIT_SUCCESS);
}

int log_command_index(int argc, char **argv)
{
	static const struct option options[] = {
		{"rebuild", no_argument, NULL, 'r'}, {"check", no_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},    {"log", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},    {NULL, 0, NULL, 0},
	};
	const char *directory = DEFAULT_LOG_DIRECTORY;
	bool rebuild = false, check = false, json = false;
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'r':
			rebuild = true;
			break;
		case 'c':
			check = true;
			break;
		case 'j':
			json = true;
			break;
		case 'l':
			directory = optarg;
			break;
		case 'h':
			print_help(stdout);
			return EXIT_SUCCESS;
		default:
			message("see `cordon log index --help`");
			return 2;
		}
	}
	if (optind < argc) {
		message("log index: unexpected argument \"%s\"", argv[optind]);
		return 2;
	}
	return update(directory, rebuild, check, json);
}
