/* SPDX-License-Identifier: Apache-2.0 */
/* cordon-fleet: a program of its own, since it needs the network and no right that cordon has. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/run/standard_streams.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/suggest.h"
#include "fleet/store/fleet_commands.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{"store", fleet_command_store, "keep the logs of many hosts as a stream brings them"},
	{"ask", fleet_command_ask, "the records of all hosts that answer a question"},
	{"hosts", fleet_command_hosts, "what is there of each host, and what is not"},
	{"could", fleet_command_could, "on which hosts anything could have had an access"},
	{"policies", fleet_command_policies, "which form of which policy is where"},
};

static void print_help(FILE *out)
{
	fputs("cordon-fleet keeps the logs of many hosts, and answers questions about all of them.\n"
	      "\n"
	      "usage: cordon-fleet COMMAND [ARGUMENT...]\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "  cordon-fleet COMMAND --help   what COMMAND takes\n"
	      "  cordon-fleet --version\n",
	      out);
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = suggest(name, names, ARRAY_SIZE(names));
	if (near)
		message("'%s' is not a command; did you mean '%s'?", name, near);
	else
		message("'%s' is not a command; 'cordon-fleet --help' lists them", name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	if (standard_streams_hold() < 0)
		return EXIT_FAILURE;
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		print_help(stdout);
		return standard_streams_finish(EXIT_SUCCESS);
	}
	if (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0) {
		printf("cordon-fleet %s\n", CORDON_VERSION);
		return standard_streams_finish(EXIT_SUCCESS);
	}
	/* A reader that has seen enough is no failure. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, argv[1]) == 0)
			return standard_streams_finish(commands[i].run(argc - 1, argv + 1));
	return unknown(argv[1]);
}
