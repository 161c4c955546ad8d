/* SPDX-License-Identifier: Apache-2.0 */
/* The whole program: finds the subcommand. Users start front.c, which starts this for most. */
#include <signal.h>

#include "base/cleanup.h"
#include "cli/term/command_table.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/run/standard_streams.h"

/* Those that people need first, then the others by subject. cordon(1) has the same order. */
static const struct command commands[] = {
	{"run", cmd_run, "run a command under a policy"},
	{"show", cmd_show, "show one execution from start to end"},
	{"why", cmd_why, "explain a denial, and propose a rule that would allow the access"},
	{"status", cmd_status, "show whether cordon enforces, and how much runs under it"},
	{"doctor", cmd_doctor, "check whether this host can enforce, and what it lacks"},
	{"demo", cmd_demo, "show attacks on this host, without cordon and with it"},
	{"live executions", NULL, NULL},
	{"ps", cmd_ps, "list them"},
	{"top", cmd_top, "list them again and again, with their use of CPU and memory"},
	{"who", cmd_who, "find the execution of a process or a connection"},
	{"kill", cmd_kill, "end an execution with all its processes"},
	{"policies", NULL, NULL},
	{"policy", cmd_policy, "list, check, explain, compare, learn and apply policies"},
	{"could", cmd_could, "check whether an execution could have had an access"},
	{"executors (programs that run agent code, such as Claude Code)", NULL, NULL},
	{"setup", cmd_setup, "find the installed agents, and write their entries"},
	{"config", cmd_config, "check /etc/cordon/cordon.yaml, or reload it"},
	{"adopt", cmd_adopt, "register a running process as an executor"},
	{"mcp", cmd_mcp, "serve the tools run, why and propose to a model (MCP)"},
	{"log", NULL, NULL},
	{"events", cmd_events, "list the records, one a line"},
	{"report", cmd_report, "write executions as an HTML page"},
	{"log", cmd_log, "verify, seal, search, index and export the log"},
	{"approvals", NULL, NULL},
	{"approvals", cmd_approvals, "list the policies that wait for approval, reject, revoke"},
	{"approve", cmd_approve, "approve a policy"},
	{"propose", cmd_propose, "request the accesses that an execution was denied"},
	{"fleet (see also cordon-fleet and cordon-ship)", NULL, NULL},
	{"watch", cmd_watch, "export the state as Prometheus metrics"},
	{"service", NULL, NULL},
	{"daemon", cmd_daemon, "run the daemon in the foreground"},
	{"wait", cmd_wait, "wait until cordon enforces and executors are active"},
	{"disable", cmd_disable, "unload enforcement and stop the daemon"},
};

static const struct command_table table = {
	.program = "cordon",
	.about = "cordon confines the code that an agent runs, and logs its actions.",
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
	 * A closed pipe at standard output is no failure. Not for `run`: the command inherits the
	 * disposition of SIGPIPE.
	 */
	if (command->run != cmd_run && command->run != cmd_daemon)
		signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(command->run(argc - 1, argv + 1));
}
