/* SPDX-License-Identifier: Apache-2.0 */
/* cordon kill: ends an execution, with everything that it started. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/term/commands.h"
#include "cli/live/live_execution.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/read_option.h"
#include "control/client.h"

enum kill_exit {
	KILL_DEAD = 0,
	KILL_FAILED = 1,
	KILL_NOT_FOUND = 2,
};

static const char help[] =
	"usage: cordon kill [--json] ID\n"
	"\n"
	"Kills an execution and everything that it started; returns when all is dead. The\n"
	"record of its end says that it was killed on request. ID is its id, or so much\n"
	"of its beginning or end that no other live execution has it; `cordon ps` shows\n"
	"ids.\n"
	"\n"
	"      --json   for programs: what is dead, as an object\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 it is dead; 1 failed, or several have this ID; 2 no such\n"
	"execution is live, or asked wrongly.\n";

/* Returns an exit status, or -1 to go on with *ret_id. */
static int parse(int argc, char **argv, bool *ret_json, const char **ret_id)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	bool json = false;
	int c;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c != 'j') {
			message("see `cordon kill --help`");
			return EXIT_USAGE;
		}
		json = true;
	}
	if (argc - optind != 1 || !argv[optind][0]) {
		message("kill: takes the id of one execution; `cordon ps` shows ids");
		return EXIT_USAGE;
	}
	*ret_json = json;
	*ret_id = argv[optind];
	return -1;
}

static int kill_execution(int socket, bool json, const char *wanted)
{
	struct failure failure = {};
	char id[UUID_TEXT_SIZE];
	int r;

	r = live_execution_find(socket, wanted, id);
	if (r < 0)
		return r == -ENOENT ? KILL_NOT_FOUND : KILL_FAILED;
	r = client_kill(socket, id, &failure);
	if (r < 0) {
		message("%s: %s", id, failure.text);
		return r == -ENOENT ? KILL_NOT_FOUND : KILL_FAILED;
	}
	printf(json ? "{\"id\":\"%s\",\"dead\":true}\n" : "%s is dead\n", id);
	return KILL_DEAD;
}

int cmd_kill(int argc, char **argv)
{
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	const char *wanted;
	bool json;
	int r;

	r = parse(argc, argv, &json, &wanted);
	if (r >= 0)
		return r;
	r = client_connect(&socket, &failure);
	if (r == -ENOENT || r == -ECONNREFUSED) {
		message("no daemon runs: start it with `systemctl start cordon`, which ends what an "
			"earlier one has left");
		return KILL_NOT_FOUND;
	}
	if (r < 0) {
		message("%s", failure.text);
		return KILL_FAILED;
	}
	return kill_execution(socket, json, wanted);
}
