/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon policy propose`: one proposal from all denials of a report. */
#include <jansson.h>
#include <string.h>

#include "cli/policy/policy_command.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "insight/learn/amend.h"

static void print_help(FILE *out)
{
	fputs("usage: cordon policy propose [--json|--report] REPORT|-\n"
	      "\n"
	      "Makes one proposal from all denials of a report of `cordon run --report`, under\n"
	      "which the job works: another policy that allows all of them, or a file that\n"
	      "amends the policy. `cordon why` makes the same from the log.\n"
	      "\n"
	      "      --json     the proposal as JSON\n"
	      "      --report   the report with the proposal in it, as JSON\n"
	      "  -h, --help     this text\n"
	      "\n"
	      "Exit status 0: there is a proposal; 1: nothing was denied, or there is none; 2:\n"
	      "the command line or the report is wrong.\n",
	      out);
}

enum form {
	FORM_TEXT,
	FORM_JSON,
	FORM_REPORT,
};

static json_t *read_report(const char *path)
{
	json_error_t error;
	json_t *report = strcmp(path, "-") == 0
				 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &error)
				 : json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	if (!report)
		message("cannot read the report %s: %s", path, error.text);
	return report;
}

static int print(json_t *report, enum form form, int r, const struct amendment *amendment)
{
	struct style style = terminal_style(stdout);
	json_t *proposal = r == 0 ? amendment_json(amendment) : json_null();

	if (form == FORM_TEXT && r == 0)
		amendment_write(stdout, &style, amendment);
	else if (form == FORM_JSON)
		json_dumpf(proposal, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
	if (form == FORM_JSON)
		putchar('\n');
	if (form == FORM_REPORT) {
		json_object_set(report, "proposal", proposal);
		json_dumpf(report, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(proposal);
	return r == 0 ? 0 : 1;
}

static int propose(const struct policy_search *search, const char *path, enum form form)
{
	_cleanup_(json_decrefp) json_t *report = read_report(path);
	_cleanup_(recording_freep) struct recording *recording = recording_new();
	_cleanup_(amendment_release) struct amendment amendment = {0};
	const struct amend_options options = {.search = search};
	int r = report && recording ? recording_add_report(recording, report) : -EINVAL;

	if (r < 0) {
		if (report)
			message("%s is no report of `cordon run --report`", path);
		return 2;
	}
	r = amend_make(recording, &options, &amendment);
	if (r < 0 && r != -ENODATA && form != FORM_REPORT)
		message("cannot make a proposal: %s", strerror(-r));
	else if (r < 0 && form == FORM_TEXT)
		message("the report has no denial");
	return print(report, form, r, &amendment);
}

int policy_command_propose(const struct policy_search *search, int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"report", no_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	enum form form = FORM_TEXT;
	int option;

	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		if (option == 'j' || option == 'r') {
			form = option == 'j' ? FORM_JSON : FORM_REPORT;
			continue;
		}
		print_help(option == 'h' ? stdout : stderr);
		return option == 'h' ? 0 : 2;
	}
	if (argc - optind != 1) {
		message("name one report");
		print_help(stderr);
		return 2;
	}
	return policy_command_finish(propose(search, argv[optind], form));
}
