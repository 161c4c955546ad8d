/* SPDX-License-Identifier: Apache-2.0 */
/* cordon propose: asks for what an execution was refused. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/host/decide.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"
#include "policy/source/units.h"

#define UNTIL_DEFAULT_NSEC (86400 * NSEC_PER_SEC)

static const char help[] =
	"usage: cordon propose ID [--for execution|session|policy] [--until TIME]\n"
	"       [--json]\n"
	"\n"
	"Asks for what an execution was denied: puts the rules that would allow it, with\n"
	"exactly what they allow besides, among what waits for approval. `cordon\n"
	"approvals` shows them to a person, and `cordon approve` has them count. The\n"
	"execution lives, or is among the last that ended; its id may be cut after 8\n"
	"characters or more. Whoever ran it may ask, where the daemon requires approvals.\n"
	"\n"
	"      --for execution  for that execution alone, while it lives (default)\n"
	"      --for session    for executions of its session that begin afterwards\n"
	"      --for policy     for all that begin under its policy afterwards\n"
	"      --until TIME     after so long (30m, 12h) it ends, approved or not; at\n"
	"                       most 30d, default 1d\n"
	"      --json           what waits, as JSON\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 it waits, or is approved already; 1 failed or refused; 2 no such\n"
	"execution, or asked wrongly.\n";

struct options {
	struct client_propose propose;
	bool json;
};

static bool is_scope(const char *word)
{
	return strcmp(word, "execution") == 0 || strcmp(word, "session") == 0 ||
	       strcmp(word, "policy") == 0;
}

static int take_until(const char *text, uint64_t *ret_when)
{
	uint64_t after;

	if (units_duration(text, &after) < 0 || after == 0 || after > INT64_MAX / 4) {
		message("propose: --until takes a time such as 30m or 12h, not '%s'", text);
		return EXIT_USAGE;
	}
	*ret_when = clock_nsec(CLOCK_REALTIME) + after;
	return -1;
}

static int take(int option, struct options *options)
{
	switch (option) {
	case 'f':
		if (!is_scope(optarg)) {
			message("propose: --for takes execution, session or policy, not '%s'",
				optarg);
			return EXIT_USAGE;
		}
		options->propose.scope = optarg;
		return -1;
	case 'u':
		return take_until(optarg, &options->propose.expires);
	case 'j':
		options->json = true;
		return -1;
	case 'h':
		fputs(help, stdout);
		return DECIDE_DONE;
	default:
		message("see `cordon propose --help`");
		return EXIT_USAGE;
	}
}

/* Returns an exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"for", required_argument, NULL, 'f'},
		{"until", required_argument, NULL, 'u'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c, status = -1;

	while (status < 0 && (c = read_option(argc, argv, "h", long_options)) >= 0)
		status = take(c, options);
	if (status < 0 && argc - optind != 1) {
		message("propose: takes the id of one execution");
		return EXIT_USAGE;
	}
	if (status < 0)
		options->propose.execution = argv[optind];
	return status;
}

static void show(const json_t *reply)
{
	const struct style style = terminal_style(stdout);
	const json_t *entry = json_object_get(reply, "approval");
	const char *digest = json_string_value(json_object_get(entry, "digest"));
	const char *state = json_string_value(json_object_get(entry, "state"));
	json_int_t left = json_integer_value(json_object_get(reply, "left"));

	decide_write_entry(stdout, &style, NULL, entry);
	if (left > 0)
		printf("not among it: %" JSON_INTEGER_FORMAT
		       " refusals that no rule alone allows\n",
		       left);
	if (state && strcmp(state, "waiting") == 0)
		printf("an authorised person may say: cordon approve %.16s --reason TEXT\n",
		       digest ? digest : "?");
}

int cmd_propose(int argc, char **argv)
{
	struct options options = {
		.propose = {.scope = "execution",
			    .expires = clock_nsec(CLOCK_REALTIME) + UNTIL_DEFAULT_NSEC},
	};
	_cleanup_(json_decrefp) json_t *reply = NULL;
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	int status = parse(argc, argv, &options), r;

	if (status >= 0)
		return status;
	if (decide_connect(&socket) < 0)
		return DECIDE_FAILED;
	r = client_propose(socket, &options.propose, &reply, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return r == -ENOENT ? DECIDE_NOT_FOUND : DECIDE_FAILED;
	}
	if (options.json) {
		(void)json_dumpf(json_object_get(reply, "approval"), stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		show(reply);
	}
	return terminal_finish(stdout, DECIDE_DONE);
}
