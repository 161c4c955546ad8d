/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names and patterns of programs. */
#include "adopt/name_walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The kernel's limit for one path. */
#define MAX_LINKS	40
#define DIRECTORIES_MAX 256u

static void visit(const struct name_visitor *visitor, const char *directory, const char *name)
{
	if (visitor)
		visitor->visit(visitor->context, directory, name);
}

/* Returns the length of the path without its last component. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

/* Reports the component that follows the first `length` bytes of the path. */
static void visit_component(const struct name_visitor *visitor, char *path, size_t length)
{
	if (!visitor)
		return;
	path[length] = '\0';
	visit(visitor, length ? path : "/", path + length + 1);
	path[length] = '/';
}

int name_walk_resolve(const char *path, const struct name_visitor *visitor, char ret_path[PATH_MAX])
{
	char rest[PATH_MAX], target[PATH_MAX], whole[PATH_MAX];
	const char *at = rest;
	size_t length = 0, size;
	ssize_t link;
	int links = 0;

	if ((size_t)snprintf(rest, sizeof(rest), "%s", path) >= sizeof(rest))
		return -ENAMETOOLONG;
	while (at += strspn(at, "/"), (size = strcspn(at, "/")) > 0) {
		if (size <= 2 && strncmp(at, "..", size) == 0) {
			length = size == 2 ? parent_length(ret_path, length) : length;
			at += size;
			continue;
		}
		if (length + size + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		ret_path[length] = '/';
		memcpy(ret_path + length + 1, at, size);
		ret_path[length + 1 + size] = '\0';
		at += size;
		visit_component(visitor, ret_path, length);
		link = readlink(ret_path, target, sizeof(target) - 1);
		if (link < 0) {
			length += 1 + size;
			continue;
		}
		if (++links > MAX_LINKS)
			return -ELOOP;
		target[link] = '\0';
		if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", target, at) >= sizeof(whole))
			return -ENAMETOOLONG;
		memcpy(rest, whole, sizeof(rest));
		at = rest;
		length = target[0] == '/' ? 0 : length;
	}
	if (length == 0)
		ret_path[length++] = '/';
	ret_path[length] = '\0';
	return 0;
}

/* --- patterns ----------------------------------------------------------------------------- */

bool name_walk_is_pattern(const char *path)
{
	return strchr(path, '*') != NULL;
}

size_t name_walk_fixed(const char *pattern)
{
	return strcspn(pattern, "*");
}

bool name_walk_is_like(const char *pattern, const char *path)
{
	const char *star = NULL, *star_path = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = pattern++;
			star_path = path;
		} else if (*pattern == *path) {
			if (!*path)
				return true;
			pattern++;
			path++;
		} else if (star && *star_path && *star_path != '/') {
			pattern = star + 1;
			path = ++star_path;
		} else {
			return false;
		}
	}
}

struct matching {
	const struct name_visitor *visitor;
	int (*found)(void *context, const char *path);
	void *context;
	unsigned int directories;
};

static int match(struct matching *m, const char *pattern);

/* Matches one directory entry against the pattern's first component with a `*`. */
static int match_name(struct matching *m, const char *pattern, size_t begin, size_t end,
		      const char *name)
{
	char component[NAME_MAX + 1], path[PATH_MAX];

	if (end - begin > NAME_MAX || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	memcpy(component, pattern + begin, end - begin);
	component[end - begin] = '\0';
	/* A name with a `*` would be treated as a pattern again. */
	if (name_walk_is_pattern(name) || !name_walk_is_like(component, name) ||
	    (size_t)snprintf(path, sizeof(path), "%.*s%s%s", (int)begin, pattern, name,
			     pattern + end) >= sizeof(path))
		return 0;
	return match(m, path);
}

static int match(struct matching *m, const char *pattern)
{
	_cleanup_(closedirp) DIR *directory = NULL;
	char name[PATH_MAX], real[PATH_MAX];
	size_t begin = name_walk_fixed(pattern), end;
	const struct dirent *item;
	int r = 0;

	if (!name_walk_is_pattern(pattern))
		return m->found(m->context, pattern);
	if (++m->directories > DIRECTORIES_MAX)
		return -E2BIG;
	end = begin + strcspn(pattern + begin, "/");
	while (begin > 0 && pattern[begin - 1] != '/')
		begin--;
	snprintf(name, sizeof(name), "%.*s", (int)begin, pattern);
	if (name_walk_resolve(name, m->visitor, real) < 0)
		return 0;
	visit(m->visitor, real, NULL);
	directory = opendir(real);
	while (r == 0 && directory && (item = readdir(directory)) != NULL)
		r = match_name(m, pattern, begin, end, item->d_name);
	return r;
}

int name_walk_match(const char *pattern, const struct name_visitor *visitor,
		    int (*found)(void *context, const char *path), void *context)
{
	struct matching m = {.visitor = visitor, .found = found, .context = context};

	return match(&m, pattern);
}
