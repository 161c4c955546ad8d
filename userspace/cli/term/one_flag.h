/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands that take one flag, --help, and nothing else. */
#ifndef CORDON_CLI_ONE_FLAG_H
#define CORDON_CLI_ONE_FLAG_H

#include <stdbool.h>

/*
 * *ret_given says whether --FLAG was there. Returns -1 to go on, else the exit status: 0 after
 * --help, which prints `help`; `refused` after a complaint about anything else.
 */
int parse_one_flag(int argc, char **argv, const char *flag, const char *help, int refused,
		   bool *ret_given);

#endif
