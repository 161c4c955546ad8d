/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up names below one directory, never outside of it. */
#include "cli/setup/tree.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

int tree_open(const struct tree *tree, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned int)(flags | O_CLOEXEC |
					(flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, tree->fd, path[0] ? path : ".", &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

bool tree_has_file(const struct tree *tree, const char *path)
{
	_cleanup_(closep) int fd = tree_open(tree, path, O_RDONLY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int tree_read(const struct tree *tree, const char *path, char *buffer, size_t size)
{
	_cleanup_(closep) int fd = tree_open(tree, path, O_RDONLY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	n = read(fd, buffer, size - 1);
	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return (int)n;
}

struct match {
	struct tree *tree;
	int (*found)(void *context, const char *path);
	void *context;
};

static int match_rest(const struct match *m, const char *done, const char *rest);

static int match_entries(const struct match *m, const char *done, const char *component,
			 const char *rest)
{
	int fd = tree_open(m->tree, done, O_RDONLY | O_DIRECTORY);
	_cleanup_(closedirp) DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	char path[PATH_MAX];
	int r = 0;

	if (!directory) {
		closep(&fd);
		return 0;
	}
	while (r == 0 && (entry = readdir(directory))) {
		if (m->tree->budget-- == 0) {
			m->tree->budget = 0;
			return -ENOSPC;
		}
		if (fnmatch(component, entry->d_name, FNM_PERIOD) != 0 ||
		    (*rest && entry->d_type == DT_REG))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s%s%s", done, *done ? "/" : "",
				     entry->d_name) < sizeof(path))
			r = match_rest(m, path, rest);
	}
	return r;
}

/* The recursion is as deep as the glob has components. */
static int match_rest(const struct match *m, const char *done, const char *rest)
{
	size_t length = strcspn(rest, "/");
	char component[NAME_MAX + 1], path[PATH_MAX];
	_cleanup_(closep) int fd = -1;

	if (!*rest) {
		fd = tree_open(m->tree, done, O_PATH);
		return fd < 0 ? 0 : m->found(m->context, done);
	}
	if (length > NAME_MAX)
		return 0;
	snprintf(component, sizeof(component), "%.*s", (int)length, rest);
	rest += length + (rest[length] == '/');
	if (strpbrk(component, "*?["))
		return match_entries(m, done, component, rest);
	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", done, *done ? "/" : "", component) >=
	    sizeof(path))
		return 0;
	return match_rest(m, path, rest);
}

int tree_match(struct tree *tree, const char *glob, int (*found)(void *context, const char *path),
	       void *context)
{
	const struct match m = {tree, found, context};

	return match_rest(&m, "", glob);
}
