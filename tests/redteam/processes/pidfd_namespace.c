// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gets hold of a namespace of a process outside by its pidfd
 * Hook: ptrace_access_check
 * Errno: EACCES
 * Control: asks an epoll, which is as much of a file, for its parameters
 * Record: trace process $PID as EPERM
 * Needs: symbol pidfd_ioctl
 */
#include <linux/types.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "tests/redteam/attack.h"

#define GET_NETWORK_NAMESPACE _IO(0xff, 4)
#define GET_EPOLL_PARAMETERS  _IOR(0x8a, 2, __u64)

static int attack(void)
{
	int fd = NEED(syscall(SYS_pidfd_open, host_pid(), 0));

	return outcome(ioctl(fd, GET_NETWORK_NAMESPACE, 0));
}

static int control(void)
{
	__u64 parameters;

	return outcome(
		ioctl(NEED(epoll_create1(EPOLL_CLOEXEC)), GET_EPOLL_PARAMETERS, &parameters));
}

REDTEAM(.attack = attack, .control = control)
