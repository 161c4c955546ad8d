/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that users start. `cordon run` begins each execution, so it is here, statically
 * linked with what it needs and nothing else: binding the libraries of all subcommands took several
 * times as long as all that it does. Every other command is the whole program's, which takes this
 * one's place, and `run` is that of another that can ask modules of the C library for users, where
 * whoever is to be another user, or is not in the file, has to be looked up.
 */
#include <jansson.h>
#include <string.h>

#include "cli/run/accounts.h"
#include "cli/run/standard_streams.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/part.h"

static bool is_run(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "run") == 0;
}

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
	if (standard_streams_hold() < 0)
		return EXIT_NOTHING_RAN;
	if (!is_run(argc, argv) || !can_run(argc, argv)) {
		part_become(is_run(argc, argv) ? PART_RUN : PART_WHOLE, argv);
		return EXIT_NOTHING_RAN;
	}
	/* Else it is read from a file; the only other side is the daemon. */
	json_object_seed(1);
	return standard_streams_finish(cmd_run(argc - 1, argv + 1));
}
