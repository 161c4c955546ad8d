// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a descriptor of a file outside through io_uring
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one of its own file
 * Record: receive $VICTIM/secret
 */
#include "tests/redteam/net.h"
#include "tests/redteam/uring.h"

static ssize_t receive_by_ring(int fd, struct msghdr *message)
{
	int error = uring_once((struct io_uring_sqe){
		.opcode = IORING_OP_RECVMSG,
		.fd = fd,
		.addr = (unsigned long)message,
		.len = 1,
		.msg_flags = MSG_CMSG_CLOEXEC,
	});

	errno = error;
	return error ? -1 : 1;
}

static int use(const char *path)
{
	char byte;
	int fd = receive_descriptor_by(path, receive_by_ring), error;

	if (fd < 0)
		return EACCES;
	error = outcome(read(fd, &byte, 1));
	close(fd);
	return error;
}

static int attack(void)
{
	return use(victim("secret"));
}

static int control(void)
{
	char path[PATH_SIZE];

	if (!getcwd(path, sizeof(path) - 8))
		broken("getcwd");
	strcat(path, "/own");
	return use(path);
}

REDTEAM(.attack = attack, .control = control)
