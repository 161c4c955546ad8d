/* SPDX-License-Identifier: Apache-2.0 */
/* cordon disable: enforcement off, the daemon gone. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "daemon/disable.h"

static const char help[] =
	"Usage: cordon disable [--force]\n"
	"\n"
	"Has enforcement unloaded and the daemon leave. Refused while executions are live.\n"
	"\n"
	"  --force   kill what is live, and remove pinned state that is broken or of another build\n"
	"  --help    show this\n"
	"\n"
	"Exit status: 0 nothing is enforced any more; 1 refused or failed.\n";

static int parse(int argc, char **argv, bool *ret_force)
{
	static const struct option long_options[] = {
		{"force", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c != 'f') {
			message("see `cordon disable --help`");
			return EXIT_FAILURE;
		}
		*ret_force = true;
	}
	if (optind < argc) {
		message("disable: unexpected argument \"%s\"", argv[optind]);
		return EXIT_FAILURE;
	}
	return -1;
}

int cmd_disable(int argc, char **argv)
{
	struct failure failure = {};
	bool force = false, found;
	int r = parse(argc, argv, &force);

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
