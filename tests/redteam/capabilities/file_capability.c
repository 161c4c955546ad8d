// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gains a capability by a program whose file has it
 * Hook: (no_new_privs)
 * Errno: EPERM
 * Control: runs the program without it
 * Record: none
 * As: user
 */
#include <sys/xattr.h>

#include "tests/redteam/capability.h"

static void setup(void)
{
	struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
				    .data[0].permitted = 1u << CAP_DAC_OVERRIDE};
	const char *path = open_place("with-capability");

	copy_file(has_capability(), path, 0755);
	NEED(setxattr(path, "security.capability", &data, sizeof(data), 0));
}

static int attack(void)
{
	return run_with_capability(open_place("with-capability"), CAP_DAC_OVERRIDE);
}

static int control(void)
{
	return attack() == EPERM ? 0 : BROKEN;
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
