/* SPDX-License-Identifier: Apache-2.0 */
/* Builds Landlock rulesets for the version of the running kernel. */
#include "base/landlock.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ACCESS_VERSION_1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* With the version that added each: the headers may be older than the kernel. */
#define ACCESS_REFER	 (1ull << 13) /* 2 */
#define ACCESS_TRUNCATE	 (1ull << 14) /* 3 */
#define ACCESS_IOCTL_DEV (1ull << 15) /* 5 */
#define NET_BIND_TCP	 (1ull << 0)  /* 4 */
#define NET_CONNECT_TCP	 (1ull << 1)  /* 4 */
#define RULE_NET_PORT	 2	      /* 4 */
#define SCOPE_ALL	 3ull	      /* 6: abstract sockets, signals */

#define ACCESS_OF_FILES                                                                            \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                               \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE | ACCESS_IOCTL_DEV)

struct ruleset {
	uint64_t files, net, scoped;
};

struct port_rule {
	uint64_t access, port;
};

static size_t size_of_ruleset(int version)
{
	return version >= 6   ? sizeof(struct ruleset)
	       : version >= 4 ? offsetof(struct ruleset, scoped)
			      : offsetof(struct ruleset, net);
}

int landlock_new(bool ports, struct landlock *ret_landlock)
{
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	const struct ruleset all = {
		.files = ACCESS_VERSION_1 | (version >= 2 ? ACCESS_REFER : 0) |
			 (version >= 3 ? ACCESS_TRUNCATE : 0) |
			 (version >= 5 ? ACCESS_IOCTL_DEV : 0),
		.net = version >= 4 && ports ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
		.scoped = version >= 6 ? SCOPE_ALL : 0,
	};
	int fd = -1;

	if (version >= 1) {
		fd = (int)syscall(SYS_landlock_create_ruleset, &all, size_of_ruleset(version), 0);
		if (fd < 0)
			return -errno;
	}
	*ret_landlock = (struct landlock){
		.fd = fd,
		.version = version >= 1 ? version : 0,
		.ports = all.net != 0,
	};
	return 0;
}

uint64_t landlock_writing(const struct landlock *landlock)
{
	return LANDLOCK_READING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |
	       LANDLOCK_ACCESS_FS_MAKE_REG | (landlock->version >= 3 ? ACCESS_TRUNCATE : 0);
}

int landlock_allow_beneath(const struct landlock *landlock, int fd, uint64_t access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
	struct stat status;

	if (landlock->fd < 0)
		return 0;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= ACCESS_OF_FILES;
	return syscall(SYS_landlock_add_rule, landlock->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) <
			       0
		       ? -errno
		       : 0;
}

int landlock_allow_connect(const struct landlock *landlock, uint16_t port)
{
	const struct port_rule rule = {NET_CONNECT_TCP, port};

	if (!landlock->ports)
		return 0;
	return syscall(SYS_landlock_add_rule, landlock->fd, RULE_NET_PORT, &rule, 0) < 0 ? -errno
											 : 0;
}

int landlock_enter(const struct landlock *landlock)
{
	if (landlock->fd < 0)
		return 0;
	return syscall(SYS_landlock_restrict_self, landlock->fd, 0) < 0 ? -errno : 0;
}

void landlock_closep(const struct landlock *landlock)
{
	closep(&landlock->fd);
}
