/* SPDX-License-Identifier: Apache-2.0 */
/* All of cordon: finds the subcommand. Users start front.c, which starts this for all but `run`. */
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/run/standard_streams.h"
#include "cli/term/suggest.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
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
	{"watch", cmd_watch, "the same as series, for Prometheus"},
	{"doctor", cmd_doctor, "can this host enforce, and if not, what to do"},
	{"policy", cmd_policy, "check and look into policies"},
	{"config", cmd_config, "check cordon.yaml, or have the daemon read it again"},
	{"log", cmd_log, "check and search the audit log"},
	{"daemon", cmd_daemon, "the daemon that owns enforcement and the log"},
	{"disable", cmd_disable, "unload enforcement and stop the daemon"},
};

static void print_help(FILE *out)
{
	fputs("cordon confines the code that an agent runs, and keeps the record.\n"
	      "\n"
	      "usage: cordon COMMAND [ARGUMENT...]\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "  cordon COMMAND --help   what COMMAND takes\n"
	      "  cordon --version\n",
	      out);
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = suggest(name, names, ARRAY_SIZE(names));
	if (near)
		message("'%s' is not a command; did you mean '%s'?", name, near);
	else
		message("'%s' is not a command; 'cordon --help' lists them", name);
	return EXIT_NOTHING_RAN;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* True where the word is one of the two spellings of an option. */
static bool is_option(const char *word, const char *short_form, const char *long_form)
{
	return strcmp(word, short_form) == 0 || strcmp(word, long_form) == 0;
}

/* `cordon help COMMAND` is `cordon COMMAND --help`. */
static int help(int argc, char **argv)
{
	const struct command *command;
	char help_option[] = "--help";
	char *help_argv[] = {argv[0], help_option, NULL};

	if (argc < 2) {
		print_help(stdout);
		return 0;
	}
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	help_argv[0] = argv[1];
	return command->run(2, help_argv);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (standard_streams_hold() < 0)
		return EXIT_NOTHING_RAN;
	if (argc < 2) {
		print_help(stderr);
		return EXIT_NOTHING_RAN;
	}
	if (is_option(argv[1], "-h", "--help"))
		return standard_streams_finish(help(1, argv + 1));
	if (strcmp(argv[1], "help") == 0)
		return standard_streams_finish(help(argc - 1, argv + 1));
	if (is_option(argv[1], "-V", "--version")) {
		printf("cordon %s\n", CORDON_VERSION);
		return standard_streams_finish(0);
	}
	command = find(argv[1]);
	if (!command)
		return unknown(argv[1]);
	/* A reader that has seen enough is no failure. What `run` starts gets the signal as it was. */
	if (command->run != cmd_run && command->run != cmd_daemon)
		signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(command->run(argc - 1, argv + 1));
}
