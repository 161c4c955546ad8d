/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program for a command name without a slash. */
#include "launch/program_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_directory(char *path, size_t length)
{
	bool is;

	memcpy(path + length, "/.", sizeof("/."));
	is = access(path, F_OK) == 0;
	path[length] = '\0';
	return is;
}

const char *program_path_find(const char *name, const char *path, char *room, size_t size)
{
	size_t name_length = strlen(name);

	if (!path || strchr(name, '/'))
		return NULL;
	for (;; path++) {
		size_t length = strcspn(path, ":"), whole = length + 1 + name_length;

		if (length == 0 || whole + sizeof("/.") > size)
			return NULL;
		memcpy(room, path, length);
		room[length] = '/';
		memcpy(room + length + 1, name, name_length + 1);
		if (access(room, X_OK) == 0 && !is_directory(room, whole))
			return room;
		path += length;
		if (*path == '\0')
			return NULL;
	}
}
