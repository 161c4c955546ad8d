/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mount namespace besides the host's, which lives on as a file, and calls that name it by its
 * number.
 */
#ifndef CORDON_TESTS_REDTEAM_FOREIGN_MOUNTS_H
#define CORDON_TESTS_REDTEAM_FOREIGN_MOUNTS_H

#include <inttypes.h>
#include <linux/types.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "tests/redteam/attack.h"
#include "tests/redteam/newer_calls.h"

#define NUMBER_OF_NAMESPACE _IOR(0xb7, 0x5, __u64)
#define MOUNT_BASICS	    2u
#define MOUNT_ROOT	    (~0ull)

struct mount_request {
	__u32 size;
	__u32 spare;
	__u64 mount, parameter, namespace;
};

static inline __u64 own_namespace(void)
{
	int fd = NEED(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
	__u64 number;

	NEED(ioctl(fd, NUMBER_OF_NAMESPACE, &number));
	close(fd);
	return number;
}

static inline void write_numbers(__u64 namespace, __u64 mount)
{
	FILE *file = fopen(open_place("foreign"), "we");

	if (!file ||
	    fprintf(file, "%" PRIu64 " %" PRIu64 "\n", (uint64_t)namespace, (uint64_t)mount) < 0 ||
	    fclose(file) != 0)
		broken("writing numbers");
}

/*
 * Without the capability, another namespace is told of as if there were none: by some kernels and
 * calls, not by others.
 */
static inline int foreign_outcome(long result)
{
	int error = outcome(result);

	return error == ENOENT ? EPERM : error;
}

static inline long list_mounts(__u64 namespace, __u64 *ret_mounts, size_t many)
{
	const struct mount_request request = {
		.size = sizeof(request), .mount = MOUNT_ROOT, .namespace = namespace};

	return syscall(CALL_LISTMOUNT, &request, ret_mounts, many, 0);
}

static inline long tell_mount(__u64 namespace, __u64 mount)
{
	const struct mount_request request = {.size = sizeof(request),
					      .mount = mount,
					      .parameter = MOUNT_BASICS,
					      .namespace = namespace};
	char buffer[1024];

	return syscall(CALL_STATMOUNT, &request, buffer, sizeof(buffer), 0);
}

static inline void make_foreign_mounts(void)
{
	int ready[2], done[2];
	char path[64], byte = 0;
	pid_t pid;

	NEED(pipe(ready));
	NEED(pipe(done));
	pid = NEED(fork());
	if (pid == 0) {
		__u64 mount;

		NEED(unshare(CLONE_NEWNS));
		NEED(list_mounts(0, &mount, 1));
		write_numbers(own_namespace(), mount);
		NEED(write(ready[1], "r", 1));
		NEED(read(done[0], &byte, 1));
		_exit(0);
	}
	NEED(read(ready[0], &byte, 1));
	make_file(victim("namespace"), "", 0600);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	NEED(mount(path, victim("namespace"), NULL, MS_BIND, NULL));
	NEED(write(done[1], "d", 1));
	if (exit_status(pid) != 0)
		broken("making a mount namespace");
}

static inline void read_numbers(__u64 *ret_namespace, __u64 *ret_mount)
{
	FILE *file = fopen(open_place("foreign"), "re");
	uint64_t namespace = 0, mount = 0;

	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &namespace, &mount) != 2)
		broken("reading numbers");
	fclose(file);
	*ret_namespace = namespace;
	*ret_mount = mount;
}

#endif
