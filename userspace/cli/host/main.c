/* SPDX-License-Identifier: Apache-2.0 */
/* All of cordon: finds the subcommand. Users start front.c, which starts this for most of them. */
#include <signal.h>

#include "base/cleanup.h"
#include "cli/term/command_table.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/run/standard_streams.h"

static const struct command commands[] = {
	{"run", cmd_run, "run a command under a policy"},
	{"events", cmd_events, "what executions did and were refused, from the log"},
	{"show", cmd_show, "one execution, start to end"},
	{"why", cmd_why, "why something was refused, and what would allow it"},
	{"could", cmd_could, "could an execution have had an access, by the policy it ran under"},
	{"report", cmd_report, "executions as a page to read, keep and hand on"},
	{"ps", cmd_ps, "the executions that are live"},
	{"top", cmd_top, "the same, as it goes on"},
	{"kill", cmd_kill, "end an execution and everything that it started"},
	{"approve", cmd_approve, "let a policy be used that waits for approval"},
	{"approvals", cmd_approvals, "what waits for approval, and what was decided"},
	{"propose", cmd_propose, "ask for what an execution was refused"},
	{"mcp", cmd_mcp, "serve a model the tools run, why and propose (Model Context Protocol)"},
	{"who", cmd_who, "which execution a process or a connection belongs to"},
	{"adopt", cmd_adopt, "make an executor of a process that runs"},
	{"status", cmd_status, "is enforcement on, and what runs under it"},
	{"wait", cmd_wait, "until enforcement is on and executors' entries are in force"},
	{"watch", cmd_watch, "the same as series, for Prometheus"},
	{"doctor", cmd_doctor, "can this host enforce, and if not, what to do"},
	{"policy", cmd_policy, "check and look into policies"},
	{"config", cmd_config, "check cordon.yaml, or have the daemon read it again"},
	{"log", cmd_log, "check and search the audit log"},
	{"daemon", cmd_daemon, "the daemon that owns enforcement and the log"},
	{"disable", cmd_disable, "unload enforcement and stop the daemon"},
};

static const struct command_table table = {
	.program = "cordon",
	.about = "cordon confines the code that an agent runs, and keeps the record.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (standard_streams_hold() < 0)
		return EXIT_NOTHING_RAN;
	status = command_choose(&table, argc, argv, &command);
	if (status >= 0)
		return standard_streams_finish(status);
	/*
	 * A reader that has seen enough is no failure. What `run` starts gets the signal as it was.
	 */
	if (command->run != cmd_run && command->run != cmd_daemon)
		signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(command->run(argc - 1, argv + 1));
}
