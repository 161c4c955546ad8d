// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: receives a descriptor of a file outside over a unix socket
 * Hook: file_receive
 * Errno: EACCES
 * Control: receives one of its own file
 * Record: receive $VICTIM/secret
 */
#include "tests/redteam/net.h"

/* What the host sends: a descriptor of the file that it is asked for. Without one: refused. */
static int receive(const char *path)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct address address = address_path(open_place("passer"));
	int fd = socket_or_broken(AF_UNIX, SOCK_STREAM);

	NEED(connect(fd, &address.any, address.length));
	NEED(write(fd, path, strlen(path)));
	NEED(recvmsg(fd, &message, MSG_CMSG_CLOEXEC));
	if (byte != 'y')
		broken("the host could not open the file");
	if (message.msg_flags & MSG_CTRUNC || message.msg_controllen < CMSG_LEN(sizeof(int)))
		return EACCES;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return outcome(read(fd, &byte, 1));
}

static int attack(void)
{
	return receive(victim("secret"));
}

static int control(void)
{
	char path[PATH_SIZE];

	return receive(in_directory(NEED(getcwd(path, sizeof(path))), "own"));
}

REDTEAM(.attack = attack, .control = control)
