/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a directory component by component, because agent code may have changed the path. */
#include "base/walk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The kernel's limit for one path. */
#define MAX_LINKS 40

#define DIRECTORY_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)
/* For any object; does not follow links. */
#define COMPONENT_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)

struct walk {
	const char *path, *what; /* as given */
	int fd;			 /* directory reached so far */
	char *rest;		 /* remaining path */
	int links;		 /* links followed so far */
};

int walk_path_of(int fd, char **ret_path)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	if (path[0] != '/')
		return -ENOENT;
	*ret_path = strdup(path);
	return *ret_path ? 0 : -ENOMEM;
}

/* True for directories that contain links of distributions and that executions cannot write to. */
static bool is_systems(int fd)
{
	static const char *const directories[] = {"/", "/home", "/run", "/usr", "/var"};
	struct stat here, there;

	if (fstat(fd, &here) < 0 || here.st_uid != 0 || (here.st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		if (stat(directories[i], &there) == 0 && here.st_dev == there.st_dev &&
		    here.st_ino == there.st_ino)
			return true;
	return false;
}

static int refuse(const struct walk *w, const char *name, const char *target,
		  struct failure *failure)
{
	_cleanup_(freep) char *directory = NULL;

	/* The given path itself is a link. */
	if (w->links == 0 && w->rest[strspn(w->rest, "/")] == '\0')
		return failure_set(failure, ELOOP,
				   "%s %s is a symbolic link to '%s'; name the directory itself",
				   w->what, w->path, target);
	if (walk_path_of(w->fd, &directory) < 0)
		directory = NULL;
	return failure_set(
		failure, ELOOP,
		"%s %s leads through %s/%s, which is a symbolic link to '%s' and may have "
		"been put there by code that ran before; name the directory itself",
		w->what, w->path, directory && strcmp(directory, "/") != 0 ? directory : "", name,
		target);
}

/* Puts the link's target in front of the remaining path. */
static int follow(struct walk *w, const char *target)
{
	char *rest;

	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (asprintf(&rest, "%s/%s", target, w->rest) < 0)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	if (target[0] != '/')
		return 0;
	closep(&w->fd);
	w->fd = open("/", DIRECTORY_FLAGS);
	return w->fd < 0 ? -errno : 0;
}

static int take_link(struct walk *w, int fd, const char *name, struct failure *failure)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return is_systems(w->fd) ? follow(w, target) : refuse(w, name, target, failure);
}

/*
 * Removes the first component of the remaining path and returns it; the caller frees it. NULL at
 * the end, or if out of memory.
 */
static char *take_component(struct walk *w)
{
	char *start = w->rest + strspn(w->rest, "/");
	size_t length = strcspn(start, "/");
	char *name = length ? strndup(start, length) : NULL;

	if (name)
		memmove(w->rest, start + length, strlen(start + length) + 1);
	return name;
}

static int step(struct walk *w, const char *name, struct failure *failure)
{
	_cleanup_(closep) int fd = openat(w->fd, name, COMPONENT_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return take_link(w, fd, name, failure);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	closep(&w->fd);
	w->fd = TAKE_FD(fd);
	return 0;
}

static int walk_all(struct walk *w, struct failure *failure)
{
	int r = 0;

	while (r == 0 && w->rest[strspn(w->rest, "/")] != '\0') {
		_cleanup_(freep) char *name = take_component(w);

		r = name ? step(w, name, failure) : -ENOMEM;
	}
	return r;
}

int walk_directory(int dir_fd, const char *path, const char *what, int *ret_fd,
		   struct failure *failure)
{
	struct walk w = {.path = path, .what = what};
	int r;

	if (path[0] == '\0')
		return -ENOENT;
	w.rest = strdup(path);
	if (!w.rest)
		return -ENOMEM;
	w.fd = openat(dir_fd, path[0] == '/' ? "/" : ".", DIRECTORY_FLAGS);
	r = w.fd < 0 ? -errno : walk_all(&w, failure);
	free(w.rest);
	if (r < 0) {
		closep(&w.fd);
		return r;
	}
	*ret_fd = w.fd;
	return 0;
}

int walk_parent(int dir_fd, const char *path, const char *what, int *ret_fd, const char **ret_name,
		struct failure *failure)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	_cleanup_(freep) char *directory = slash ? strndup(path, (size_t)(slash - path) + 1)
						 : strdup(".");
	int r;

	if (!directory)
		return -ENOMEM;
	if (name[0] == '\0')
		return -EISDIR;
	r = walk_directory(dir_fd, directory, what, ret_fd, failure);
	if (r == 0)
		*ret_name = name;
	return r;
}
