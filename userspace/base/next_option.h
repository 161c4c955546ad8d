/* SPDX-License-Identifier: Apache-2.0 */
/* getopt_long(3) with the same error messages in every program, including a suggestion. */
#ifndef CORDON_BASE_NEXT_OPTION_H
#define CORDON_BASE_NEXT_OPTION_H

#include <getopt.h>

#include "base/failure.h"

/*
 * As getopt_long(): returns the option's value, or -1 at the end. Returns '?' for an unknown or
 * ambiguous option, a missing value, or an unexpected value, with *failure set and nothing printed.
 */
int next_option(int argc, char **argv, const char *letters, const struct option *options,
		struct failure *failure);

#endif
