/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal that an attack makes unusable. */
#ifndef CORDON_TESTS_REDTEAM_TERMINAL_H
#define CORDON_TESTS_REDTEAM_TERMINAL_H

#include "tests/redteam/attack.h"

/* Confined, the one on standard input. Unconfined, a new one: the harness still uses that one. */
static inline int attacked_terminal(void)
{
	int fd;

	if (getenv("REDTEAM_CONFINED"))
		return STDIN_FILENO;
	fd = NEED(posix_openpt(O_RDWR | O_NOCTTY));
	NEED(unlockpt(fd));
	return NEED(open(ptsname(fd), O_RDWR | O_NOCTTY));
}

#endif
