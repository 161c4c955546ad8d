/* SPDX-License-Identifier: Apache-2.0 */
/* A program's commands in one table: finds a command, lists all, and suggests the nearest name. */
#ifndef CORDON_CLI_COMMAND_TABLE_H
#define CORDON_CLI_COMMAND_TABLE_H

#include <stddef.h>
#include <stdio.h>

/* A command, or with `run` NULL the title of the group of commands below it. */
struct command {
	const char *name;
	/* Gets its own name as argv[0]; returns the exit status. */
	int (*run)(int argc, char **argv);
	const char *summary;
};

struct command_table {
	const char *program; /* "cordon" */
	const char *about;   /* one sentence */
	/* In the order of the help. Commands before the first title have the title "commands". */
	const struct command *commands;
	size_t count;
};

/* Returns the command, or NULL if the table has no command of that name. */
const struct command *command_find(const struct command_table *table, const char *name);

/* Reports that there is no such command, with the nearest name. Returns EXIT_USAGE. */
int command_unknown(const struct command_table *table, const char *name);

/*
 * Handles --help, --version, `help COMMAND`, a missing and an unknown command, and returns the
 * exit status. Otherwise returns -1 and sets *ret_command to the command that the caller runs.
 */
int command_choose(const struct command_table *table, int argc, char **argv,
		   const struct command **ret_command);

#endif
