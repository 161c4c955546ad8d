/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock for a process that drops its rights permanently. A ruleset denies everything that the
 * running kernel's version can deny, except permitted accesses. Versions: see
 * Documentation/userspace-api/landlock.rst.
 */
#ifndef CORDON_BASE_LANDLOCK_H
#define CORDON_BASE_LANDLOCK_H

#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>

#define LANDLOCK_READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

struct landlock {
	int fd;	     /* -1: the kernel has no Landlock, nothing is denied */
	int version; /* of the kernel's interface; 0: none */
	bool ports;  /* denies TCP ports; requires version 4 */
};

/*
 * Creates a ruleset that denies access to all files, to signals and abstract sockets outside, and
 * with `ports` TCP. Close it with landlock_closep(). Returns 0, or the -ERRNO of
 * landlock_create_ruleset(2).
 */
int landlock_new(bool ports, struct landlock *ret_landlock);

/*
 * Returns LANDLOCK_ACCESS_FS_*: create, remove, read, write and truncate files, and list
 * directories.
 */
uint64_t landlock_writing(const struct landlock *landlock);

/*
 * Permits `access` (LANDLOCK_ACCESS_FS_*) below the directory `fd`; for a file only the rights that
 * apply to files. Returns 0, or the -ERRNO of landlock_add_rule(2) or fstat(2).
 */
int landlock_allow_beneath(const struct landlock *landlock, int fd, uint64_t access);

/*
 * Permits connections to a TCP port, unless the ruleset permits all. Returns 0, or the -ERRNO of
 * landlock_add_rule(2).
 */
int landlock_allow_connect(const struct landlock *landlock, uint16_t port);

/*
 * Restricts the calling thread, which must have no_new_privs. Returns 0, or the -ERRNO of
 * landlock_restrict_self(2).
 */
int landlock_enter(const struct landlock *landlock);

void landlock_closep(const struct landlock *landlock);

#endif
