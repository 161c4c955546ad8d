/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the next option of a command, and says on standard error what is wrong with one. */
#include "cli/term/read_option.h"

#include "base/next_option.h"
#include "cli/term/message.h"

int read_option(int argc, char **argv, const char *letters, const struct option *options)
{
	struct failure failure = {};
	int option = next_option(argc, argv, letters, options, &failure);

	if (option == '?')
		message("%s: %s", argv[0], failure.text);
	return option;
}
