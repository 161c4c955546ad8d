/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of commands that show one thing of a log: `cordon show` and `cordon why`. */
#ifndef CORDON_CLI_STORY_OPTIONS_H
#define CORDON_CLI_STORY_OPTIONS_H

#include <stdbool.h>

struct story_options {
	const char *directory; /* of the log */
	const char *word;      /* the one argument */
	bool json;
};

/*
 * `takes` says which argument is missing, or one too many. -1: go on; else the status to exit
 * with.
 */
int story_options_read(int argc, char **argv, const char *help, const char *takes,
		       struct story_options *ret_options);

#endif
