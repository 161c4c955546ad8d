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
	"Usage: cordon disable [--force]\n"
	"\n"
	"Has enforcement unloaded and the daemon leave. Refused while executions are live.\n"
	"\n"
	"  --force   kill what is live, and remove pinned state that is broken or of another build\n"
	"  --help    show this\n"
	"\n"
	"Exit status: 0 nothing is enforced any more; 1 refused or failed; 2 asked wrongly.\n";

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
