/* SPDX-License-Identifier: Apache-2.0 */
/* A file outside that has a second name in the work directory, made before and
 * by somebody else. */
#ifndef CORDON_TESTS_REDTEAM_LINKS_H
#define CORDON_TESTS_REDTEAM_LINKS_H

#include "tests/redteam/attack.h"

static inline void plant_link(void)
{
	make_file(victim("store"), "others use it\n", 0644);
	NEED(chown(victim("store"), attacker(), attacker()));
	unlink("planted");
	NEED(link(victim("store"), "planted"));
}

/* A file with two names that the execution itself has given it. */
static inline const char *own_link(void)
{
	unlink("one");
	unlink("two");
	make_file("one", "mine\n", 0644);
	NEED(link("one", "two"));
	return "two";
}

#endif
