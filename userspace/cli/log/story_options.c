/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options and the argument that `cordon show` and `cordon why` have in common. */
#include "cli/log/story_options.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/term/exit_status.h"
#include "cli/term/message.h"
#include "cli/term/moment.h"
#include "cli/term/read_option.h"
#include "cli/term/terminal.h"

int story_options_read(int argc, char **argv, const char *help, const char *takes,
		       struct story_options *ret_options)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"log", required_argument, NULL, 'l'},
		{"utc", no_argument, NULL, 'u'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*ret_options = (struct story_options){.directory = DEFAULT_LOG_DIRECTORY};
	while ((option = read_option(argc, argv, "h", options)) >= 0) {
		switch (option) {
		case 'j':
			ret_options->json = true;
			break;
		case 'l':
			ret_options->directory = optarg;
			break;
		case 'u':
			moment_utc();
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? EXIT_SUCCESS : EXIT_USAGE;
		}
	}
	if (optind + 1 != argc) {
		message("%s", takes);
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	ret_options->word = argv[optind];
	return -1;
}
