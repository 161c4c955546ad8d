/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a command. */
#ifndef CORDON_CLI_READ_OPTION_H
#define CORDON_CLI_READ_OPTION_H

#include <getopt.h>

/* As next_option(), but says what is wrong: '?' is left to be answered with EXIT_USAGE, or what the command has for it. */
int read_option(int argc, char **argv, const char *letters, const struct option *options);

#endif
