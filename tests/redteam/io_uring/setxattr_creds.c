// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets an attribute by an io_uring worker that was made under other credentials
 * Hook: inode_setxattr
 * Errno: EACCES
 * Control: sets one of its own file's so
 * Record: setxattr $ANY$NAME/secret
 * As: root
 * Where: tmpfs ext4 overlay
 */
#include <sys/prctl.h>

#include "tests/redteam/uring.h"

static struct io_uring_sqe setxattr_entry(const char *path)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_SETXATTR,
		.flags = IOSQE_ASYNC,
		.addr = (unsigned long)"trusted.x",
		.off = (unsigned long)"1",
		.addr3 = (unsigned long)path,
		.len = 1,
	};
}

/* The worker is there before the credentials are others; both permit the same. */
static int set_attribute(const char *path)
{
	struct uring ring;
	int result = uring_open(&ring, 0);

	if (result)
		broken("io_uring_setup");
	uring_request(&ring, (struct io_uring_sqe){.opcode = IORING_OP_NOP, .flags = IOSQE_ASYNC});
	NEED(prctl(PR_SET_KEEPCAPS, 1));
	result = uring_request(&ring, setxattr_entry(path));
	close(ring.fd);
	return result < 0 ? -result : 0;
}

static int attack(void)
{
	return set_attribute(victim("secret"));
}

static int control(void)
{
	return set_attribute("own");
}

REDTEAM(.attack = attack, .control = control)
