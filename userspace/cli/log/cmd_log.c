/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/term/commands.h"
#include "cli/log/log_command.h"
#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/suggest.h"

static const char help[] = "usage: cordon log verify       is the log complete and unaltered?\n"
			   "       cordon log setup-keys   begin to seal it\n"
			   "       cordon log renew-keys   replace the key that proves the seals\n"
			   "       cordon log query        find records\n"
			   "       cordon log index        index them for that\n"
			   "       cordon log export       write them in other formats\n"
			   "\n"
			   "Each takes --help.\n";

int cmd_log(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{"verify", log_command_verify},		{"setup-keys", log_command_setup_keys},
		{"renew-keys", log_command_renew_keys}, {"query", log_command_query},
		{"index", log_command_index},		{"export", log_command_export},
	};
	const char *word = argc > 1 ? argv[1] : "", *names[ARRAY_SIZE(commands)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, word) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		fputs(help, stdout);
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	near = suggest(word, names, ARRAY_SIZE(names));
	if (near) {
		message("'log %s' is not a command; did you mean 'log %s'?", word, near);
		return EXIT_USAGE;
	}
	message("say what to do with the log: cordon log verify, setup-keys, renew-keys, query, index or export");
	fputs(help, stderr);
	return EXIT_USAGE;
}
