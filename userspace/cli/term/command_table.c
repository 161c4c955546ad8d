/* SPDX-License-Identifier: Apache-2.0 */
/* A program's commands in one table: finds a command, lists all, and suggests the nearest name. */
#include "cli/term/command_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"

#define COMMANDS_MAX 32

const struct command *command_find(const struct command_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->commands[i].run && strcmp(table->commands[i].name, name) == 0)
			return &table->commands[i];
	return NULL;
}

/* Options that stand in place of a command, and words that others have for them. */
static const char *option_near(const char *name)
{
	static const char *const options[] = {"--help", "--version"};
	static const char *const words[] = {"help", "version"};
	const char *near;

	if (strcmp(name, "-v") == 0)
		return "--version";
	if (strcmp(name, "-?") == 0)
		return "--help";
	if (name[0] == '-')
		return suggest(name, options, ARRAY_SIZE(options));
	near = suggest(name, words, ARRAY_SIZE(words));
	return near ? options[near == words[1]] : NULL;
}

int command_unknown(const struct command_table *table, const char *name)
{
	const char *names[COMMANDS_MAX], *near;
	size_t count = 0;

	for (size_t i = 0; i < table->count && count < COMMANDS_MAX; i++)
		if (table->commands[i].run)
			names[count++] = table->commands[i].name;
	near = suggest(name, names, count);
	if (!near)
		near = option_near(name);
	if (near)
		message("'%s' is not a command; did you mean '%s %s'?", name, table->program, near);
	else
		message("'%s' is not a command; '%s --help' lists them", name, table->program);
	return EXIT_USAGE;
}

static void print_help(const struct command_table *table, FILE *out)
{
	size_t width = 9;

	for (size_t i = 0; i < table->count; i++)
		if (table->commands[i].run && strlen(table->commands[i].name) > width)
			width = strlen(table->commands[i].name);
	fprintf(out, "%s\n\nusage: %s COMMAND [ARGUMENT...]\n\ncommands:\n", table->about,
		table->program);
	for (size_t i = 0; i < table->count; i++) {
		const struct command *command = &table->commands[i];

		if (command->run)
			fprintf(out, "  %-*s %s\n", (int)width, command->name, command->summary);
		else
			fprintf(out, "\n%s:\n", command->name);
	}
	fprintf(out,
		"\n"
		"  %s COMMAND --help   show the options of COMMAND\n"
		"  %s --version        show the version\n",
		table->program, table->program);
}

/* True if the word is the short or the long form of an option. */
static bool is_option(const char *word, const char *letter, const char *name)
{
	return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

/* `cordon help COMMAND` is `cordon COMMAND --help`. */
static int help(const struct command_table *table, const char *name)
{
	const struct command *command = command_find(table, name);
	char option[] = "--help";
	char own[32], *argv[] = {own, option, NULL};

	if (!command)
		return command_unknown(table, name);
	snprintf(own, sizeof(own), "%s", name);
	return command->run(2, argv);
}

int command_choose(const struct command_table *table, int argc, char **argv,
		   const struct command **ret_command)
{
	const struct command *command;

	if (argc < 2) {
		print_help(table, stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0 && argc > 2)
		return help(table, argv[2]);
	if (is_option(argv[1], "-h", "--help") || strcmp(argv[1], "help") == 0) {
		print_help(table, stdout);
		return EXIT_SUCCESS;
	}
	if (is_option(argv[1], "-V", "--version")) {
		printf("%s %s\n", table->program, CORDON_VERSION);
		return EXIT_SUCCESS;
	}
	command = command_find(table, argv[1]);
	if (!command)
		return command_unknown(table, argv[1]);
	*ret_command = command;
	return -1;
}
