/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cordon run` as front.c has it, linked with the C library as it is on the host, which loads
 * modules for users that are kept elsewhere than in files. What this starts as itself, a daemon, is
 * the whole program.
 */
#include <jansson.h>
#include <string.h>

#include "cli/run/standard_streams.h"
#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/part.h"

int main(int argc, char **argv)
{
	if (standard_streams_hold() < 0)
		return EXIT_NOTHING_RAN;
	if (argc < 2 || strcmp(argv[1], "run") != 0) {
		part_become(PART_WHOLE, argv);
		return EXIT_NOTHING_RAN;
	}
	/* As in front.c. */
	json_object_seed(1);
	return standard_streams_finish(cmd_run(argc - 1, argv + 1));
}
