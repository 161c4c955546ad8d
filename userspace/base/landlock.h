/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock of a process that gives up its rights for good: all that the running kernel's version
 * of it can refuse is refused, but for what is allowed. Versions: see
 * Documentation/userspace-api/landlock.rst.
 */
#ifndef CORDON_BASE_LANDLOCK_H
#define CORDON_BASE_LANDLOCK_H

#include <linux/landlock.h>
#include <stdbool.h>
#include <stdint.h>

#define LANDLOCK_READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

struct landlock {
	int fd;	     /* -1: the kernel has no Landlock, and nothing is refused */
	int version; /* of the kernel's interface; 0: none */
	bool ports;  /* TCP ports are refused, which takes version 4 */
};

/*
 * Refuses all access to files, signals and abstract sockets outside, and with `ports` TCP, once
 * entered. To be closed by landlock_closep(). -errno of landlock_create_ruleset(2).
 */
int landlock_new(bool ports, struct landlock *ret_landlock);

/* LANDLOCK_ACCESS_FS_*: making, removing, reading, writing and truncating files, and listing. */
uint64_t landlock_writing(const struct landlock *landlock);

/*
 * Allows LANDLOCK_ACCESS_FS_* of `access` below the directory `fd`; where `fd` is a file, those of
 * them that files have. -errno of landlock_add_rule(2) or fstat(2).
 */
int landlock_allow_beneath(const struct landlock *landlock, int fd, uint64_t access);

/* To a TCP port; nothing to do where ports are not refused. -errno of landlock_add_rule(2). */
int landlock_allow_connect(const struct landlock *landlock, uint16_t port);

/* For the thread that calls, which must have no_new_privs. -errno of landlock_restrict_self(2). */
int landlock_enter(const struct landlock *landlock);

void landlock_closep(const struct landlock *landlock);

#endif
