/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the directories of a Python's modules as Python itself finds them. */
#include "cli/run/python_venv.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/run/directory.h"
#include "launch/program_path.h"

/* "python", "python3", "python3.12" */
static bool is_python(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (strncmp(name, "python", 6) != 0)
		return false;
	return name[6 + strspn(name + 6, "0123456789.")] == '\0';
}

/*
 * Links are left as they are: an environment's interpreter is a link that leads out of it. Caller
 * frees.
 */
static char *as_it_is_named(const char *program, const char *path, const char *workdir)
{
	char room[PATH_MAX], *named;
	const char *found = program_path_find(program, path, room, sizeof(room));

	if (found)
		program = found;
	else if (!strchr(program, '/'))
		return strdup("");
	if (program[0] == '/')
		return strdup(program);
	return asprintf(&named, "%s/%s", workdir, program) < 0 ? NULL : named;
}

/* Leaves DIRECTORY of DIRECTORY/bin/NAME. */
static bool cut_bin(char *path)
{
	char *end = strrchr(path, '/');

	if (!end)
		return false;
	*end = '\0';
	end = strrchr(path, '/');
	if (!end || strcmp(end, "/bin") != 0)
		return false;
	*end = '\0';
	return true;
}

static bool is_environment(const char *directory)
{
	char name[PATH_MAX];

	return snprintf(name, sizeof(name), "%s/pyvenv.cfg", directory) < (int)sizeof(name) &&
	       access(name, R_OK) == 0;
}

/* Where the interpreter of no environment is installed, written to `real`; not the system's. */
static bool find_installation(const char *named, const char *workdir, char *real)
{
	return is_python(named) && realpath(named, real) && is_python(real) &&
	       !directory_is_below(real, workdir) && cut_bin(real) && real[0] &&
	       strcmp(real, "/usr") != 0 && strcmp(real, "/usr/local") != 0;
}

int python_venv_find(const char *program, const char *path, const char *workdir,
		     char **ret_directory)
{
	_cleanup_(freep) char *named = as_it_is_named(program, path, workdir);
	_cleanup_(freep) char *above = named ? strdup(named) : NULL;
	const char *directory;
	char real[PATH_MAX];

	if (!above)
		return -ENOMEM;
	*ret_directory = NULL;
	if (directory_is_below(named, workdir))
		return 0;
	if (cut_bin(above) && is_environment(above))
		directory = above;
	else if (find_installation(named, workdir, real))
		directory = real;
	else
		return 0;
	*ret_directory = strdup(directory);
	return *ret_directory ? 0 : -ENOMEM;
}
