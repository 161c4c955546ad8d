/* SPDX-License-Identifier: Apache-2.0 */
/* `cordon log`: what is done with the log itself. */
#include "base/cleanup.h"
#include "cli/log/log_command.h"
#include "cli/term/command_table.h"
#include "cli/term/commands.h"

static const struct command commands[] = {
	{"verify", log_command_verify, "is the log complete and unaltered?"},
	{"setup-keys", log_command_setup_keys, "begin to seal it"},
	{"renew-keys", log_command_renew_keys, "replace the key that proves the seals"},
	{"query", log_command_query, "find records"},
	{"index", log_command_index, "index them for that"},
	{"export", log_command_export, "write them in other formats"},
};

static const struct command_table table = {
	.program = "cordon log",
	.about = "What is done with the audit log itself.",
	.commands = commands,
	.count = ARRAY_SIZE(commands),
};

int cmd_log(int argc, char **argv)
{
	const struct command *command;
	int status = command_choose(&table, argc, argv, &command);

	return status >= 0 ? status : command->run(argc - 1, argv + 1);
}
