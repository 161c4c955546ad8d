/* SPDX-License-Identifier: Apache-2.0 */
/* Why a program did not run: which file it was, and that no other took its place. */
#include "cli/run/refused_program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launch/program_path.h"

/* Of pyenv and its like: a script that chooses the program, under a name of it. */
static bool is_shim(const char *file)
{
	const char *name = strrchr(file, '/');

	return name && name - file >= 6 && strncmp(name - 6, "/shims", 6) == 0;
}

char *refused_program_text(const char *program, const char *path)
{
	char room[PATH_MAX], real[PATH_MAX];
	const char *found = program_path_find(program, path, room, sizeof(room));
	const char *file = found ? found : program;
	_cleanup_(freep) char *target = NULL;
	char *text;

	if (readlink(file, real, sizeof(real)) > 0 && realpath(file, real) &&
	    asprintf(&target, " (%s)", real) < 0)
		return NULL;
	if (asprintf(&text, "%s%s: %s%s%s", file, target ? target : "", strerror(EACCES),
		     found ? "; no other program of that name is tried" : "",
		     is_shim(file)
			     ? "; it is a shim: name the program that it would start, as `pyenv "
			       "which` tells"
			     : "") < 0)
		return NULL;
	return text;
}
