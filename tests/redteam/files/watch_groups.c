// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes more fanotify instances than one execution may have, of the few that its user has
 * Hook: fexit/fsnotify_alloc_group (kills: the call itself cannot be failed)
 * Errno: EACCES
 * Control: makes as many one after the other
 * Record: open 32 as EMFILE
 * As: root bare user
 */
#include <sys/fanotify.h>

#include "tests/redteam/attack.h"

#define MORE 40

static int make_one(void)
{
	return fanotify_init(FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY);
}

static int make_many(void)
{
	for (int i = 0; i < MORE; i++)
		if (make_one() < 0)
			return errno;
	return 0;
}

static int attack(void)
{
	return in_doomed_child(make_many);
}

static int control(void)
{
	for (int i = 0; i < MORE; i++)
		close(NEED(make_one()));
	return 0;
}

REDTEAM(.attack = attack, .control = control)
