// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: hands a capability on to programs by the ambient set
 * Hook: (bounding set)
 * Errno: EPERM
 * Control: uses its own file
 * Record: none
 * As: bare
 */
#include "tests/redteam/capability.h"

static int inherit(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	NEED(syscall(SYS_capget, &header, data));
	data[0].inheritable |= 1u << CAP_NET_ADMIN;
	if (syscall(SYS_capset, &header, data) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0) < 0)
		return errno;
	return run_with_capability(has_capability(), CAP_NET_ADMIN);
}

static int attack(void)
{
	return in_child(inherit);
}

REDTEAM(.attack = attack)
