/* SPDX-License-Identifier: Apache-2.0 */
/* Names directly in a directory for everybody's temporary files, each attack's own. */
#ifndef CORDON_TESTS_REDTEAM_TEMPORARY_H
#define CORDON_TESTS_REDTEAM_TEMPORARY_H

#include "tests/redteam/attack.h"

/* Of one attempt: the directory that it is made in is in the name. */
static inline const char *temporary_in(const char *directory, const char *name)
{
	char place[PATH_SIZE], whole[PATH_SIZE];

	NEED(getcwd(place, sizeof(place)) ? 0 : -1);
	for (char *c = place; *c; c++)
		if (*c == '/')
			*c = '-';
	snprintf(whole, sizeof(whole), "rt%s-%s", place, name);
	return in_directory(directory, whole);
}

static inline const char *temporary(const char *name)
{
	return temporary_in("/tmp", name);
}

/* Of a setup: what somebody else has made there. Its modes would let the attacker have it. */
static inline void make_others_file(const char *path)
{
	make_file(path, "secret\n", 0666);
	NEED(chown(path, attacker(), attacker()));
}

static inline void make_others_directory(const char *path)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		broken(path);
	NEED(chown(path, attacker(), attacker()));
}

/* By a name that one's own has got: read, and taken away. */
static inline int use_up(const char *path)
{
	int error = read_file(path);

	return error ? error : outcome(unlink(path));
}

/* A file of one's own: made, written, read, and taken away. */
static inline int use_file(const char *path)
{
	int error = write_file(path);

	return error ? error : use_up(path);
}

static inline int use_temporary(void)
{
	return use_file(temporary("mine"));
}

#endif
