/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal behind a stream can show. */
#ifndef CORDON_CLI_TERMINAL_H
#define CORDON_CLI_TERMINAL_H

#include <stdio.h>

#include "insight/text/style.h"

/*
 * Colours only on a terminal, and neither where NO_COLOR is set (https://no-color.org) nor on a
 * dumb one. UTF-8 unless the locale's variables name another character set.
 */
struct style terminal_style(FILE *stream);

/*
 * At the end of a command: writes out what is buffered and returns `status`; EXIT_FAILURE after a
 * message if output was lost, unless only because the reader closed the pipe.
 */
int terminal_finish(FILE *stream, int status);

/* The log's place when --log does not say. */
#define DEFAULT_LOG_DIRECTORY "/var/log/cordon"

#endif
