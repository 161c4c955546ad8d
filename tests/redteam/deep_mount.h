/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory so deep that its place cannot be climbed, mounted a second time where everything is
 * allowed: bound.
 */
#ifndef CORDON_REDTEAM_DEEP_MOUNT_H
#define CORDON_REDTEAM_DEEP_MOUNT_H

#include <sys/mount.h>

#include "tests/redteam/attack.h"

/*
 * As many components as are climbed (CORDON_MAX_COMPONENTS), besides those of the directory that
 * they are made in.
 */
#define DEEP_COMPONENTS 128

static inline void bind_deep(void)
{
	char path[4096];
	size_t length = snprintf(path, sizeof(path), "%s", victim("dir"));

	for (int i = 0; i < DEEP_COMPONENTS; i++) {
		length += snprintf(path + length, sizeof(path) - length, "/deep");
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			broken(path);
	}
	NEED(mkdir("bound", 0755));
	NEED(mount(path, "bound", NULL, MS_BIND, NULL));
	make_file("bound/secret", "secret\n", 0644);
	NEED(chown("bound/secret", attacker(), attacker()));
}

#endif
