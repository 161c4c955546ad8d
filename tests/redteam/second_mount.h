/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of victims, mounted a second time where everything is allowed: bound. */
#ifndef CORDON_REDTEAM_SECOND_MOUNT_H
#define CORDON_REDTEAM_SECOND_MOUNT_H

#include <sys/mount.h>

#include "tests/redteam/attack.h"

static inline void bind_victims(void)
{
	NEED(mkdir("bound", 0755));
	NEED(mount(setting("REDTEAM_VICTIM"), "bound", NULL, MS_BIND, NULL));
}

/*
 * With kept/secret in it, which a rule denies by its first name, and a file beside, which none
 * names.
 */
static inline void bind_kept(void)
{
	const char *kept = victim("kept");

	/* Of their own, so that all others are still in a file system that is mounted once. */
	NEED(mount("victims", setting("REDTEAM_VICTIM"), "tmpfs", 0, "mode=777"));
	NEED(mkdir(kept, 0755));
	make_file(victim("kept/secret"), "secret\n", 0666);
	make_file(victim("beside"), "text\n", 0666);
	NEED(chown(kept, attacker(), attacker()));
	NEED(chown(victim("kept/secret"), attacker(), attacker()));
	NEED(chown(victim("beside"), attacker(), attacker()));
	bind_victims();
}

#endif
