/* SPDX-License-Identifier: Apache-2.0 */
/* cordon ps: the executions that are live. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/term/commands.h"
#include "cli/live/live_table.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/one_flag.h"
#include "cli/term/terminal.h"
#include "control/client.h"

static const char help[] =
	"usage: cordon ps [--json]\n"
	"\n"
	"Lists the executions that are live, oldest first: id, how long it has run and\n"
	"how long it still may, policy, agent, tasks (threads count), CPU time and memory\n"
	"in use, with their limits, how often it was denied something (in observe mode:\n"
	"would have been), and the command. `cordon top` goes on showing it, `cordon show\n"
	"ID` tells more, `cordon kill ID` ends one. Who is not root sees executions of\n"
	"its own.\n"
	"\n"
	"      --json   for programs: an array of objects\n"
	"  -h, --help   this text\n"
	"\n"
	"Exit status: 0 listed, be it none; 1 failed; 2 asked wrongly.\n";

static int list(const json_t *executions, bool json)
{
	_cleanup_(json_decrefp) json_t *array = live_table_sorted(executions);
	const struct style style = terminal_style(stdout);
	const struct live_table table = {.executions = array};

	if (!array) {
		message("out of memory");
		return EXIT_FAILURE;
	}
	if (json) {
		json_dumpf(array, stdout, JSON_COMPACT);
		putchar('\n');
		return EXIT_SUCCESS;
	}
	if (json_array_size(array) == 0) {
		puts("no execution is live");
		return EXIT_SUCCESS;
	}
	if (live_table_write(stdout, &style, &table) < 0) {
		message("cannot lay out the list: %m");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int cmd_ps(int argc, char **argv)
{
	_cleanup_(json_decrefp) json_t *executions = NULL;
	_cleanup_(closep) int socket = -1;
	struct failure failure = {};
	bool json = false;
	int r;

	r = parse_one_flag(argc, argv, "json", help, EXIT_USAGE, &json);
	if (r >= 0)
		return r;
	r = client_connect(&socket, &failure);
	if (r == 0) {
		r = client_list(socket, &executions, &failure);
	} else if (r == -ENOENT || r == -ECONNREFUSED) {
		/* Then none can be live but those that an earlier daemon left. */
		message("no daemon runs: start it with `systemctl start cordon`; `cordon status` shows whether anything is enforced");
		return EXIT_FAILURE;
	}
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	return terminal_finish(stdout, list(executions, json));
}
