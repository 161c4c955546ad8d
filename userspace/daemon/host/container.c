/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what a container has of its host. */
#include "daemon/host/container.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/listed.h"
#include "base/proc.h"

/* A line of mountinfo; see proc(5). */
struct mount {
	char device[32];
	char root[PATH_MAX]; /* what of its file system is mounted */
	char point[PATH_MAX];
	char type[64];
};

#define MOUNTINFO_MAX (4u << 20)

/* Runtimes keep what containers are made of here, ... */
static const char *const storage[] = {
	"/var/lib/containers/storage",
	"/run/containers/storage",
	"/var/lib/docker",
	"/run/docker",
	"/var/lib/containerd",
	"/run/containerd",
	NULL,
};

/* ... and mount it there. Elsewhere it is another container's, or a volume. */
static const char *const own_points[] = {
	"/",	    "/etc/hosts", "/etc/hostname",	"/etc/resolv.conf",
	"/dev/shm", "/proc/acpi", "/run/.containerenv", "/run/secrets",
	NULL,
};

/* Devices that anybody may use; runtimes hide files of /proc behind the first. */
static const char *const devices[] = {
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", NULL,
};

/*
 * Views of the kernel, of which there is one for all or one for each namespace: hooks judge what is
 * done there.
 */
static const char *const views[] = {"cgroup2", "sysfs", "mqueue", "devpts", NULL};

/* Programs of engines that begin a container in the place of its own, and where they are put. */
static const struct {
	const char *point, *program;
} own_programs[] = {
	{"/sbin/docker-init", "/usr/bin/docker-init"},
	{"/sbin/docker-init", "/usr/bin/tini-static"},
	{"/sbin/docker-init", "/usr/libexec/docker/docker-init"},
	{"/usr/sbin/docker-init", "/usr/bin/docker-init"},
	{"/usr/sbin/docker-init", "/usr/bin/tini-static"},
	{"/usr/sbin/docker-init", "/usr/libexec/docker/docker-init"},
	{"/run/podman-init", "/usr/libexec/podman/catatonit"},
	{"/run/podman-init", "/usr/bin/catatonit"},
};

/* Is `path` this directory, or below it? */
static bool below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	if (strcmp(directory, "/") == 0)
		return true;
	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

static bool below_any(const char *path, const char *const *list)
{
	while (*list && !below(path, *list))
		list++;
	return *list != NULL;
}

/* Spaces and the like are written as \040. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = '\0';
}

/* The next line; false: it is none. */
static bool read_mount(const char *line, struct mount *ret_mount)
{
	const char *type = strstr(line, " - ");
	const char *end = strchrnul(line, '\n');

	if (!type || type > end ||
	    sscanf(line, "%*d %*d %31s %4095s %4095s", ret_mount->device, ret_mount->root,
		   ret_mount->point) != 3 ||
	    sscanf(type, " - %63s", ret_mount->type) != 1)
		return false;
	unescape(ret_mount->root);
	unescape(ret_mount->point);
	return true;
}

/* Where the host sees what is mounted, if it does at this mount of its own. */
static bool host_path(const struct mount *host, const struct mount *its,
		      char ret_path[2 * PATH_MAX])
{
	const char *rest;

	if (strcmp(host->device, its->device) != 0 || !below(its->root, host->root))
		return false;
	rest = its->root + (strcmp(host->root, "/") == 0 ? 0 : strlen(host->root));
	snprintf(ret_path, 2 * (size_t)PATH_MAX, "%s%s",
		 strcmp(host->point, "/") == 0 ? "" : host->point,
		 strcmp(rest, "/") == 0 ? "" : rest);
	if (!ret_path[0])
		strcpy(ret_path, "/");
	return true;
}

static bool is_own_program(const char *path, const struct mount *its)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_programs); i++)
		if (strcmp(its->point, own_programs[i].point) == 0 &&
		    strcmp(path, own_programs[i].program) == 0)
			return true;
	return false;
}

static bool approved(const char *path, const struct mount *its, const char *const *volumes)
{
	return below_any(path, volumes) || is_listed(devices, path) || is_own_program(path, its) ||
	       (is_listed(own_points, its->point) && below_any(path, storage));
}

static int judge(const struct mount *its, const char *host, const char *const *volumes,
		 struct failure *failure)
{
	char path[2 * PATH_MAX], seen[2 * PATH_MAX] = "";
	struct mount mount;
	bool shared = false;

	if (is_listed(views, its->type))
		return 0;
	for (const char *line = host; *line; line = strchrnul(line, '\n'), line += *line != '\0') {
		if (!read_mount(line, &mount))
			return failure_set(failure, EIO, "the host's mounts cannot be read");
		shared = shared || strcmp(mount.device, its->device) == 0;
		if (!host_path(&mount, its, path))
			continue;
		if (approved(path, its, volumes))
			return 0;
		memcpy(seen, path, sizeof(seen));
	}
	if (!shared)
		return 0;
	return failure_set(failure, EPERM,
			   "%s in the container is %s of the host, which is not among the entry's "
			   "volumes",
			   its->point, seen[0] ? seen : "a directory that is not to be found");
}

int container_judge_mounts(const char *host, const char *its, const char *const *volumes,
			   struct failure *failure)
{
	struct mount mount;
	int r = 0;

	for (; r == 0 && *its; its = strchrnul(its, '\n'), its += *its != '\0') {
		if (!read_mount(its, &mount))
			return failure_set(failure, EIO, "the container's mounts cannot be read");
		r = judge(&mount, host, volumes, failure);
	}
	return r;
}

bool container_find_mount(const char *host, const char *its, const char *point,
			  char ret_path[2 * PATH_MAX])
{
	struct mount mount, own;
	bool found = false;

	/* What was mounted last covers the others. */
	for (; *its; its = strchrnul(its, '\n'), its += *its != '\0')
		if (read_mount(its, &mount) && strcmp(mount.point, point) == 0) {
			own = mount;
			found = true;
		}
	for (const char *line = host; found && *line;
	     line = strchrnul(line, '\n'), line += *line != '\0')
		if (read_mount(line, &mount) && host_path(&mount, &own, ret_path))
			return true;
	return false;
}

static int read_mounts(pid_t pid, char **ret_text, struct failure *failure)
{
	size_t size;
	int r = proc_read(pid, "mountinfo", MOUNTINFO_MAX, ret_text, &size);

	return r < 0 ? failure_set(failure, r, "/proc/%d/mountinfo: %m", pid) : 0;
}

int container_check_volumes(pid_t pid, const char *const *volumes, struct failure *failure)
{
	_cleanup_(freep) char *host = NULL;
	_cleanup_(freep) char *its = NULL;
	int r = read_mounts(getpid(), &host, failure);

	if (r == 0)
		r = read_mounts(pid, &its, failure);
	return r < 0 ? r : container_judge_mounts(host, its, volumes, failure);
}
