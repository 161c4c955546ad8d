/* SPDX-License-Identifier: Apache-2.0 */
/* cordon watch: gives its place to the program for that, which links what speaks HTTP. */
#include <stdlib.h>

#include "cli/term/commands.h"
#include "cli/term/part.h"

int cmd_watch(int argc, char **argv)
{
	(void)argc;
	part_become(PART_WATCH, argv);
	return EXIT_FAILURE;
}
