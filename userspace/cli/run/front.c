/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that users start. `cordon run` begins each execution, so it is here, statically
 * linked with what it needs and nothing else: binding the libraries of all subcommands took several
 * times as long as all that it does. So is what asks the daemon one question, which must not have
 * to wait for a processor longer than for the answer. Every other command is the whole program's,
 * which takes this one's place, and `run` is that of another that can ask modules of the C library
 * for users, where whoever is to be another user, or is not in the file, has to be looked up.
 */
#include <jansson.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/run/accounts.h"
#include "cli/run/standard_streams.h"
#include "cli/term/command_table.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/part.h"

/* Whoever lists commands is the whole program. */
static const struct command commands[] = {
	{"kill", cmd_kill, NULL},
	{"ps", cmd_ps, NULL},
	{"status", cmd_status, NULL},
};

static const struct command_table questions = {.commands = commands, .count = ARRAY_SIZE(commands)};

static bool can_run(int argc, char **argv)
{
	/*
	 * "--user" and what it may be cut down to; of the command's arguments, too, which does no
	 * harm.
	 */
	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], "--u", 3) == 0)
			return false;
	return accounts_file_read(geteuid());
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct command *question = command_find(&questions, name);
	bool run = strcmp(name, "run") == 0;

	if (standard_streams_hold() < 0)
		return EXIT_NOTHING_RAN;
	if (!question && !(run && can_run(argc, argv))) {
		part_become(run ? PART_RUN : PART_WHOLE, argv);
		return EXIT_NOTHING_RAN;
	}
	/* Else it is read from a file; the only other side is the daemon. */
	json_object_seed(1);
	if (run)
		return standard_streams_finish(cmd_run(argc - 1, argv + 1));
	/* As in main.c. */
	signal(SIGPIPE, SIG_IGN);
	return standard_streams_finish(question->run(argc - 1, argv + 1));
}
