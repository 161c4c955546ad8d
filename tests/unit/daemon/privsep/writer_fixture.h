/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program that opens logs is their writers, too: what is executed for one is the program
 * itself.
 */
#ifndef CORDON_TESTS_DAEMON_WRITER_FIXTURE_H
#define CORDON_TESTS_DAEMON_WRITER_FIXTURE_H

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "daemon/privsep/writer_process.h"

/* First in main(); does not return in a writer. */
static inline void writer_fixture_main(int argc, char **argv)
{
	/* As in the daemon. */
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[2], "--log-writer") == 0)
		_exit(writer_process());
}

#endif
