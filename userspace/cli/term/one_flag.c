/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that take one flag, --help, and nothing else. */
#include "cli/term/one_flag.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/term/message.h"
#include "cli/term/read_option.h"

int parse_one_flag(int argc, char **argv, const char *flag, const char *help, int refused,
		   bool *ret_given)
{
	const struct option long_options[] = {
		{flag, no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{},
	};
	bool given = false;
	int c;

	while ((c = read_option(argc, argv, "h", long_options)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return EXIT_SUCCESS;
		}
		if (c != 'f') {
			message("see `cordon %s --help`", argv[0]);
			return refused;
		}
		given = true;
	}
	if (optind < argc) {
		message("%s: unexpected argument \"%s\"", argv[0], argv[optind]);
		return refused;
	}
	*ret_given = given;
	return -1;
}
