/* SPDX-License-Identifier: Apache-2.0 */
/* What `cordon watch` is told to do. */
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
	const char *listen;   /* as it was said */
	const char *textfile; /* NULL: none */
	const char *socket;   /* of the daemon */
	unsigned int seconds; /* between two textfiles */
};

/* -1: go on; else the exit status, all being said. */
int options_parse(int argc, char **argv, struct options *ret_options);

/* One line, on standard error. */
void watch_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
