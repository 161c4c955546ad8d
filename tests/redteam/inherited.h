/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that somebody else made before the execution began, and that came along: see
 * outside.py.
 */
#ifndef CORDON_TESTS_REDTEAM_INHERITED_H
#define CORDON_TESTS_REDTEAM_INHERITED_H

#include "tests/redteam/net.h"

#define INHERITED_FORBIDDEN "REDTEAM_CONNECTED_FORBIDDEN"
#define INHERITED_ALLOWED   "REDTEAM_CONNECTED_ALLOWED"

static inline int inherited(const char *which)
{
	return atoi(setting(which));
}

/* Both use a connection alike: `use` takes its descriptor, and returns the errno that it met. */
#define REDTEAM_INHERITED(use)                                                                     \
	static int attack(void)                                                                    \
	{                                                                                          \
		return use(inherited(INHERITED_FORBIDDEN));                                        \
	}                                                                                          \
                                                                                                   \
	static int control(void)                                                                   \
	{                                                                                          \
		return use(inherited(INHERITED_ALLOWED));                                          \
	}                                                                                          \
                                                                                                   \
	REDTEAM(.attack = attack, .control = control)

#endif
