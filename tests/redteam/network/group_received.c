// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: changes the sources of a group that the host joined before it handed the socket over
 * Hook: socket_setsockopt
 * Errno: EACCES
 * Control: receives such a socket
 * Record: socket $ANY
 */
#include "tests/redteam/group.h"

static int received(void)
{
	int fd = receive_descriptor("socket:group:" GROUP_V4);

	if (fd < 0)
		broken("no socket arrived");
	return fd;
}

static int attack(void)
{
	char filter[IP_MSFILTER_SIZE(1)] = {};
	struct ip_msfilter *request = (struct ip_msfilter *)filter;
	int fd = received();

	inet_pton(AF_INET, GROUP_V4, &request->imsf_multiaddr);
	request->imsf_interface.s_addr = htonl(INADDR_LOOPBACK);
	request->imsf_fmode = MCAST_EXCLUDE;
	request->imsf_numsrc = 1;
	inet_pton(AF_INET, "115.101.99.114", &request->imsf_slist[0]);
	return outcome(setsockopt(fd, SOL_IP, IP_MSFILTER, filter, sizeof(filter)));
}

static int control(void)
{
	close(received());
	return 0;
}

REDTEAM(.attack = attack, .control = control)
