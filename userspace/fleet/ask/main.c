/* SPDX-License-Identifier: Apache-2.0 */
/* cordon-fleet: a program of its own, since it needs the network and no right that cordon has. */
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/run/standard_streams.h"
#include "cli/term/command_table.h"
#include "fleet/store/fleet_commands.h"

static const struct command commands[] = {
	{"store", fleet_command_store, "keep the logs of many hosts as a stream brings them"},
	{"ask", fleet_command_ask, "the records of all hosts that answer a question"},
	{"hosts", fleet_command_hosts, "what is there of each host, and what is not"},
	{"report", fleet_command_report, "what was decided most, over all hosts"},
	{"could", fleet_command_could, "on which hosts anything could have had an access"},
	{"policies", fleet_command_policies, "which form of which policy is where"},
};

static const struct command_table table = {
	.program = "cordon-fleet",
	.about =
		"cordon-fleet keeps the logs of many hosts, and answers questions about all of them.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (standard_streams_hold() < 0)
		return EXIT_FAILURE;
	status = command_choose(&table, argc, argv, &command);
	if (status >= 0)
		return standard_streams_finish(status);
	/* A reader that has seen enough is no failure. */
	signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(command->run(argc - 1, argv + 1));
}
