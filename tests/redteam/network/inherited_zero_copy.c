// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: has what a connection that was open before it began receives put into its memory
 * Hook: socket_getsockopt
 * Errno: EACCES
 * Control: the same by a connection to where the policy leads
 * Record: receive 127.0.0.1:7109
 * As: root+outside user+outside
 */
#include "tests/redteam/inherited.h"

/*
 * A page's place that is mapped from the socket, as the kernel wants it for what it does not copy.
 */
static int use(int fd)
{
	static char copy[1 << 16];
	struct {
		struct tcp_zerocopy_receive receive;
		/*
		 * What the header of the C library lacks: struct tcp_zerocopy_receive of
		 * linux/tcp.h.
		 */
		unsigned int waiting;
		int error;
		unsigned long copy;
		int copy_length;
		unsigned int flags;
		unsigned long control[2];
		unsigned int more[2];
	} receive = {.copy = (unsigned long)copy, .copy_length = sizeof(copy)};
	socklen_t size = sizeof(receive);
	void *place = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	int error;

	if (place == MAP_FAILED)
		return errno;
	receive.receive.address = (unsigned long)place;
	receive.receive.length = 4096;
	error = outcome(getsockopt(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &receive, &size));
	munmap(place, 4096);
	return error;
}

REDTEAM_INHERITED(use)
