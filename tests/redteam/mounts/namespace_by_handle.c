// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gets hold of another mount namespace by a handle that it has made itself
 * Hook: file_open
 * Errno: EACCES
 * Control: uses its own file
 * Record: open $ANY
 * As: root
 * Needs: symbol nsfs_fh_to_dentry
 */
#include "tests/redteam/foreign_mounts.h"

#define ROOT_OF_NAMESPACES   (-10003)
#define HANDLE_OF_NAMESPACES 0xf1

struct namespace_handle {
	__u64 number;
	__u32 type;
	__u32 inode;
};

static int attack(void)
{
	struct {
		struct file_handle handle;
		struct namespace_handle namespace;
	} buffer = {.handle = {.handle_bytes = sizeof(struct namespace_handle),
			       .handle_type = HANDLE_OF_NAMESPACES}};
	__u64 mount;

	read_numbers(&buffer.namespace.number, &mount);
	return outcome(open_by_handle_at(ROOT_OF_NAMESPACES, &buffer.handle, O_RDONLY));
}

REDTEAM(.setup = make_foreign_mounts, .attack = attack)
