/* SPDX-License-Identifier: Apache-2.0 */
/* getopt_long(3) for every program alike: what is wrong with an option is said in one way, with what may have been meant. */
#ifndef CORDON_BASE_NEXT_OPTION_H
#define CORDON_BASE_NEXT_OPTION_H

#include <getopt.h>

#include "base/failure.h"

/*
 * As getopt_long(): the option's value, or -1 behind the last. '?' where it is unknown, ambiguous, lacks its value or
 * takes none, which is in *failure and nowhere else.
 */
int next_option(int argc, char **argv, const char *letters, const struct option *options,
		struct failure *failure);

#endif
