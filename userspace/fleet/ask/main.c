/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cordon-fleet: a separate program, because it needs the network and none of cordon's privileges.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/run/standard_streams.h"
#include "cli/term/command_table.h"
#include "fleet/store/fleet_commands.h"

static const struct command commands[] = {
	{"store", fleet_command_store, "store the logs of many hosts from a stream"},
	{"ask", fleet_command_ask, "show records of all hosts that match a query"},
	{"hosts", fleet_command_hosts, "show how complete each host's records are"},
	{"report", fleet_command_report, "show the most frequent decisions on all hosts"},
	{"could", fleet_command_could, "show on which hosts an access was possible"},
	{"policies", fleet_command_policies, "show which policy version is active where"},
};

static const struct command_table table = {
	.program = "cordon-fleet",
	.about = "cordon-fleet stores the logs of many hosts, and queries all of them.",
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
	/* A reader that closes the pipe is not an error. */
	signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(command->run(argc - 1, argv + 1));
}
