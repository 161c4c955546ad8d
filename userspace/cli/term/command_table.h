/* SPDX-License-Identifier: Apache-2.0 */
/* A program's commands in one table: what finds one, lists them, and knows which was meant. */
#ifndef CORDON_CLI_COMMAND_TABLE_H
#define CORDON_CLI_COMMAND_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct command {
	const char *name;
	/* Gets its own name as argv[0]; returns the exit status. */
	int (*run)(int argc, char **argv);
	const char *summary;
};

struct command_table {
	const char *program; /* "cordon" */
	const char *about;   /* one sentence */
	const struct command *commands;
	size_t count;
};

/* NULL: there is none of that name. */
const struct command *command_find(const struct command_table *table, const char *name);

/* Says that there is no such command, and which is near. EXIT_USAGE. */
int command_unknown(const struct command_table *table, const char *name);

/*
 * All of main() but the command itself. Returns an exit status where that was all: --help, --version, `help COMMAND`, no
 * command or one that there is not; else -1, and the command is in *ret_command.
 */
int command_choose(const struct command_table *table, int argc, char **argv,
		   const struct command **ret_command);

#endif
