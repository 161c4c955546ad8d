/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `cordon watch`. */
#ifndef CORDON_WATCH_OPTIONS_H
#define CORDON_WATCH_OPTIONS_H

#include <stdbool.h>

#include "watch/address.h"

enum watch_exit {
	WATCH_DONE = 0,
	WATCH_FAILED = 1,
	WATCH_USAGE = 2,
};

struct options {
	bool listens;
	struct address address;
	const char *listen;   /* as given */
	const char *textfile; /* NULL: none */
	const char *socket;   /* the daemon's */
	unsigned int seconds; /* between two textfiles */
};

/* Returns -1 to continue, otherwise the exit status, with everything printed. */
int options_parse(int argc, char **argv, struct options *ret_options);

/* Prints one line on standard error. */
void watch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
