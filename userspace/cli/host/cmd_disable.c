/* SPDX-License-Identifier: Apache-2.0 */
/* cordon disable: enforcement off, the daemon gone. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/term/commands.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/one_flag.h"
#include "daemon/disable.h"

static const char help[] =
	"usage: cordon disable [--force]\n"
	"\n"
	"Unloads enforcement and stops the daemon, unless executions are live.\n"
	"\n"
	"      --force          kill live executions, and remove pinned state that is\n"
	"                       broken or that another build made\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 nothing is enforced any more; 1 rejected or failed; 2 wrong\n"
	"usage.\n";

int cmd_disable(int argc, char **argv)
{
	struct failure failure = {};
	bool force = false, found;
	int r = parse_one_flag(argc, argv, "force", help, EXIT_USAGE, &force);

	if (r >= 0)
		return r;
	r = client_disable(force, &found, &failure);
	if (r < 0) {
		message("%s", failure.text);
		return EXIT_FAILURE;
	}
	puts(found ? "enforcement is unloaded" : "nothing was enforced");
	return EXIT_SUCCESS;
}
