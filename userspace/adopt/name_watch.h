/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until a name may resolve differently: a directory entry on its path changes (inotify), or
 * the mount table does. For a process that may block on paths controlled by others.
 */
#ifndef CORDON_ADOPT_NAME_WATCH_H
#define CORDON_ADOPT_NAME_WATCH_H

#include <stddef.h>

#include "base/cleanup.h"

struct name_watched;

struct name_watch {
	int fd, mounts; /* `mounts` is -1 if unknown */
	struct name_watched *list;
	size_t count;
};

/* Returns 0 or -errno. Release with name_watch_close(). */
int name_watch_open(struct name_watch *ret_watch);
void name_watch_close(struct name_watch *watch);

/*
 * A name_visitor's function; `context` is a struct name_watch. Ignores directories that cannot be
 * watched and names after the first 1,024: the caller must also check periodically.
 */
void name_watch_add(void *context, const char *directory, const char *name);

/* Returns 1 if a name may have changed, 0 after `timeout_msec`, or -errno. */
int name_watch_wait(struct name_watch *watch, int timeout_msec);

#endif
