/* SPDX-License-Identifier: Apache-2.0 */
/* cordon approvals: what waits and what was decided; refusing and revoking. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"
#include "cli/term/commands.h"
#include "cli/host/approval_rules.h"
#include "cli/host/approvals_follow.h"
#include "cli/host/decide.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"

static const char help[] =
	"usage: cordon approvals [list] [--brief] [--json]\n"
	"       cordon approvals --follow [--exec COMMAND] [--json]\n"
	"       cordon approvals refuse DIGEST --reason TEXT [--json]\n"
	"       cordon approvals revoke DIGEST --reason TEXT [--json]\n"
	"\n"
	"Lists the policies that wait for approval, each with every rule by which it\n"
	"allows more than the approved one of its name, or for the first, anything, and\n"
	"those that were decided about: when, by whom and why.\n"
	"\n"
	"refuse: what waits is not to be used; `cordon approve` may still change that.\n"
	"revoke: what was approved may not be used any more. What runs under it goes on:\n"
	"`cordon ps` and `cordon kill` end that.\n"
	"\n"
	"  -f, --follow         go on: what waits, and what begins to, each once\n"
	"      --exec COMMAND   run this by the shell for each of them, as who you are,\n"
	"                       with the entry as JSON on standard input: for mail, or a\n"
	"                       chat; one after the other\n"
	"      --reason TEXT    why; on record with who said so and when\n"
	"      --brief          without the rules, which may take seconds to find\n"
	"      --json           for programs\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done; 1 failed or refused; 2 nothing with this digest, or asked\n"
	"wrongly.\n";

struct options {
	const char *action; /* "list", "refuse", "revoke" */
	struct client_decide decide;
	const char *command; /* for each that begins to wait; or NULL */
	bool brief, json, follow;
};

static bool takes_digest(const struct options *options)
{
	return strcmp(options->action, "list") != 0;
}

static int check(int left, const struct options *options)
{
	static const char *const actions[] = {"list", "refuse", "revoke"};
	const char *near;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		known |= strcmp(actions[i], options->action) == 0;
	near = known ? NULL : suggest(options->action, actions, ARRAY_SIZE(actions));
	if (near) {
		message("approvals: '%s' is not an action; did you mean '%s'?", options->action,
			near);
		return EXIT_USAGE;
	}
	if (!known) {
		message("approvals: '%s' is none of list, refuse and revoke", options->action);
		return EXIT_USAGE;
	}
	if (options->follow ? takes_digest(options) : options->command != NULL) {
		message(options->follow ? "approvals: --follow goes with the list alone"
					: "approvals: --exec goes with --follow");
		return EXIT_USAGE;
	}
	if (left != takes_digest(options)) {
		message("approvals %s: %s", options->action,
			takes_digest(options) ? "takes one digest" : "takes nothing else");
		return EXIT_USAGE;
	}
	if (takes_digest(options) && (!options->decide.reason || !*options->decide.reason)) {
		message("approvals %s: say why: --reason TEXT", options->action);
		return EXIT_USAGE;
	}
	return -1;
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"reason", required_argument, NULL, 'r'},
		{"follow", no_argument, NULL, 'f'},
		{"exec", required_argument, NULL, 'e'},
		{"brief", no_argument, NULL, 'b'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	while ((c = read_option(argc, argv, "hf", long_options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return DECIDE_DONE;
		}
		if (c == 'r') {
			options->decide.reason = optarg;
		} else if (c == 'b') {
			options->brief = true;
		} else if (c == 'j') {
			options->json = true;
		} else if (c == 'f') {
			options->follow = true;
		} else if (c == 'e') {
			options->command = optarg;
		} else {
			message("see `cordon approvals --help`");
			return EXIT_USAGE;
		}
	}
	options->action = optind < argc ? argv[optind++] : "list";
	options->decide.digest = optind < argc ? argv[optind] : NULL;
	options->decide.decision = options->action;
	return check(argc - optind, options);
}

static bool waits(const json_t *entry)
{
	const char *state = json_string_value(json_object_get(entry, "state"));

	return state && strcmp(state, "waiting") == 0;
}

/* What waits first: it is what somebody is to do something about. */
static void write_list(const json_t *entries, bool brief)
{
	struct style style = terminal_style(stdout);
	const json_t *entry;
	size_t i;

	if (json_array_size(entries) == 0)
		puts("nothing waits for approval, and nothing was decided");
	for (int pass = 0; pass < 2; pass++) {
		json_array_foreach(entries, i, entry) {
			if (waits(entry) == (pass == 0))
				decide_write_entry(stdout, &style, brief ? NULL : entries, entry);
		}
	}
}

static void add_rules(json_t *entries)
{
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		if (waits(entry))
			approval_rules_add(entries, entry);
	}
}

static int list(const struct options *options)
{
	_cleanup_(json_decrefp) json_t *entries = NULL;
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};

	if (decide_connect(&socket) < 0)
		return DECIDE_FAILED;
	if (client_approvals(socket, &entries, &failure) < 0) {
		message("%s", failure.text);
		return DECIDE_FAILED;
	}
	if (options->json) {
		if (!options->brief)
			add_rules(entries);
		json_dumpf(entries, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		write_list(entries, options->brief);
	}
	return terminal_finish(stdout, DECIDE_DONE);
}

int cmd_approvals(int argc, char **argv)
{
	struct options options = {};
	int r = parse(argc, argv, &options);

	if (r >= 0)
		return r;
	if (options.follow)
		return approvals_follow(options.command, options.json);
	return takes_digest(&options) ? decide_ask(&options.decide, options.json) : list(&options);
}
