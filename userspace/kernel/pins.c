/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, finds, replaces and removes the pins below ENFORCEMENT_PIN_DIRECTORY. */
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#define BPF_FS_MAGIC_NUMBER 0xcafe4a11
#define DETACH_TIMEOUT_MSEC 10000

void pin_path(char path[PIN_PATH_SIZE], const char *directory, const char *name)
{
	snprintf(path, PIN_PATH_SIZE, "%s/%s", directory, name);
}

static int make_directory(const char *path, struct failure *failure)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return failure_set(failure, errno, "cannot create %s: %m", path);
	return 0;
}

int pins_prepare(struct failure *failure)
{
	static const char *const directories[] = {ENFORCEMENT_PIN_DIRECTORY,
						  PIN_MAPS,
						  PIN_LINKS,
						  PIN_ENGINE,
						  PIN_PROGRAMS,
						  PIN_STAGING};
	struct statfs fs;

	if (statfs("/sys/fs/bpf", &fs) < 0 || fs.f_type != BPF_FS_MAGIC_NUMBER)
		return failure_set(failure, ENODEV,
				   "/sys/fs/bpf is not a bpf file system: mount it with "
				   "`mount -t bpf bpf /sys/fs/bpf`");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		int r = make_directory(directories[i], failure);

		if (r < 0)
			return r;
	}
	return 0;
}

int pin_get(const char *directory, const char *name)
{
	char path[PIN_PATH_SIZE];
	int fd;

	pin_path(path, directory, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

int pin_replace(int fd, const char *directory, const char *name)
{
	char staged[PIN_PATH_SIZE], path[PIN_PATH_SIZE];

	pin_path(staged, PIN_STAGING, name);
	pin_path(path, directory, name);
	/* Left by an interrupted replacement. */
	if (unlink(staged) < 0 && errno != ENOENT)
		return -errno;
	return bpf_obj_pin(fd, staged) < 0 || rename(staged, path) < 0 ? -errno : 0;
}

/* The pinned inode holds the last reference, and the kernel frees it asynchronously. */
int pin_wait_until_gone(unsigned int id)
{
	const struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};

	for (int waited = 0; waited < DETACH_TIMEOUT_MSEC; waited += 5) {
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			return 0;
		close(fd);
		nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

bool pin_has_link(const char *name)
{
	char path[PIN_PATH_SIZE];

	pin_path(path, PIN_LINKS, name);
	return access(path, F_OK) == 0;
}

static bool link_info(const char *name, struct bpf_link_info *ret_info)
{
	_cleanup_(closep) int fd = pin_get(PIN_LINKS, name);
	struct bpf_link_info info = {};
	unsigned int size = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return false;
	*ret_info = info;
	return true;
}

unsigned int pin_link_id(const char *name)
{
	struct bpf_link_info info;

	return link_info(name, &info) ? info.id : 0;
}

/* The kernel truncates names. */
static bool same_name(const char *pin, const char *object)
{
	return strncmp(pin, object, BPF_OBJ_NAME_LEN - 1) == 0;
}

static bool is_map(const char *name)
{
	_cleanup_(closep) int fd = pin_get(PIN_MAPS, name);
	struct bpf_map_info info = {};
	unsigned int size = sizeof(info);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	       same_name(name, info.name);
}

static bool is_link(const char *name)
{
	_cleanup_(closep) int program = -1;
	struct bpf_prog_info info = {};
	unsigned int size = sizeof(info);
	struct bpf_link_info link;

	if (!link_info(name, &link))
		return false;
	program = bpf_prog_get_fd_by_id(link.prog_id);
	return program >= 0 && bpf_obj_get_info_by_fd(program, &info, &size) == 0 &&
	       same_name(name, info.name);
}

static bool each_is(const char *directory, bool (*is)(const char *name))
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !is(entry->d_name))
			return false;
	return dir;
}

bool pins_are_what_they_are_called(void)
{
	return each_is(PIN_MAPS, is_map) && each_is(PIN_LINKS, is_link);
}

static int remove_link(const char *name, struct failure *failure)
{
	unsigned int id = pin_link_id(name);
	char path[PIN_PATH_SIZE];

	pin_path(path, PIN_LINKS, name);
	if (unlink(path) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot unpin %s: %m", path);
	if (id && pin_wait_until_gone(id) < 0)
		return failure_set(failure, EBUSY,
				   "program %s stays attached: another process holds its link",
				   name);
	return 0;
}

static int unpin(const char *name, const char *directory, struct failure *failure)
{
	char path[PIN_PATH_SIZE];

	pin_path(path, directory, name);
	if (unlink(path) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot unpin %s: %m", path);
	return 0;
}

int pins_remove_others(const char *directory, bool (*is_own)(const char *name, void *context),
		       void *context, struct failure *failure)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return errno == ENOENT
			       ? 0
			       : failure_set(failure, errno, "cannot read %s: %m", directory);
	while ((entry = readdir(dir))) {
		int one;

		if (entry->d_name[0] == '.' || (is_own && is_own(entry->d_name, context)))
			continue;
		one = strcmp(directory, PIN_LINKS) == 0 ? remove_link(entry->d_name, failure)
							: unpin(entry->d_name, directory, failure);
		if (one < 0)
			r = one;
	}
	return r;
}

int pins_clear_staging(struct failure *failure)
{
	return pins_remove_others(PIN_STAGING, NULL, NULL, failure);
}

static int remove_each(const char *directory, struct failure *failure)
{
	int r = pins_remove_others(directory, NULL, NULL, failure);

	if (r == 0 && rmdir(directory) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot remove %s: %m", directory);
	return r;
}

int pins_remove(struct failure *failure)
{
	int r;

	/* From here on the rest counts as incomplete. */
	if (unlink(PIN_META) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot unpin %s: %m", PIN_META);
	r = remove_each(PIN_STAGING, failure);
	if (r == 0)
		r = remove_each(PIN_LINKS, failure);
	/* Attached programs need the engine until here. */
	if (r == 0)
		r = remove_each(PIN_ENGINE, failure);
	if (r == 0)
		r = remove_each(PIN_PROGRAMS, failure);
	if (r == 0)
		r = remove_each(PIN_MAPS, failure);
	if (r == 0 && rmdir(ENFORCEMENT_PIN_DIRECTORY) < 0 && errno != ENOENT)
		return failure_set(failure, errno, "cannot remove %s: %m",
				   ENFORCEMENT_PIN_DIRECTORY);
	return r;
}
