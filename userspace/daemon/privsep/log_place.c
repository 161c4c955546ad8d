/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directory of a log by the name that a request has for it. */
#include "daemon/privsep/log_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/walk.h"

int log_place(const char *asked, char **ret_directory, struct failure *failure)
{
	static const char what[] = "the log directory";
	_cleanup_(freep) char *parent = NULL;
	_cleanup_(closep) int fd = -1;
	const char *name;
	int r;

	r = walk_directory(AT_FDCWD, asked, what, &fd, failure);
	if (r == 0)
		return walk_path_of(fd, ret_directory);
	if (r == -ENOENT)
		r = walk_parent(AT_FDCWD, asked, what, &fd, &name, failure);
	if (r == 0)
		r = walk_path_of(fd, &parent);
	if (r == 0 &&
	    asprintf(ret_directory, "%s/%s", strcmp(parent, "/") != 0 ? parent : "", name) < 0)
		r = -ENOMEM;
	return r < 0 ? failure_set(failure, r, "%s %s: %m", what, asked) : 0;
}
