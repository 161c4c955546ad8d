/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that users start. `cordon run` begins each execution, so it is here, statically
 * linked with what it needs and nothing else: binding the libraries of all subcommands took several
 * times as long as all that it does. Every other command is the whole program's,
 * PREFIX/lib/cordon/cordon, which takes this one's place.
 */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/run/accounts.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/run/standard_streams.h"

/*
 * Of PREFIX/bin/cordon it is in PREFIX/lib, of SOURCE/build/cordon in SOURCE/build/lib. NULL:
 * cannot be told.
 */
static char *whole_program(void)
{
	char own[PATH_MAX], *name, *path;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length <= 0)
		return NULL;
	own[length] = '\0';
	name = strrchr(own, '/');
	if (!name)
		return NULL;
	*name = '\0';
	name = strrchr(own, '/');
	if (name && strcmp(name, "/bin") == 0)
		*name = '\0';
	return asprintf(&path, "%s/lib/cordon/cordon", own) < 0 ? NULL : path;
}

static int start_whole(char **argv)
{
	_cleanup_(freep) char *program = whole_program();

	if (!program) {
		message("cannot tell from /proc/self/exe where the rest of cordon is: %m");
		return EXIT_NOTHING_RAN;
	}
	execv(program, argv);
	message("cannot start %s: %m; it is part of cordon: install that again", program);
	return EXIT_NOTHING_RAN;
}

/*
 * Whoever is to be another user may have to be asked of modules of the C library, as may a user who
 * is not in the file.
 */
static bool can_run(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "run") != 0)
		return false;
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
	if (!can_run(argc, argv))
		return start_whole(argv);
	/* Else it is read from a file; the only other side is the daemon. */
	json_object_seed(1);
	return standard_streams_finish(cmd_run(argc - 1, argv + 1));
}
