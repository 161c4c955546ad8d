/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delegations are leases of files and directories: whoever would change them waits for who has one.
 */
#ifndef CORDON_TESTS_REDTEAM_DELEGATION_H
#define CORDON_TESTS_REDTEAM_DELEGATION_H

#include <linux/types.h>

#include "tests/redteam/attack.h"

#define COMMAND_SET_DELEGATION 1040

struct file_delegation {
	__u32 flags;
	__u16 type;
	__u16 reserved;
};

static inline int take_delegation(const char *path)
{
	struct file_delegation delegation = {.type = F_RDLCK};
	int fd = NEED(open(path, O_RDONLY | O_CLOEXEC));

	return outcome(fcntl(fd, COMMAND_SET_DELEGATION, &delegation));
}

#endif
