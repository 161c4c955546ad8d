// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: says which link address an address of the network has
 * Hook: (not held)
 * Errno: EPERM
 * Control: asks for the address of a device
 * Record: none
 * As: bare
 */
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/redteam/net.h"

static int attack(void)
{
	struct address address = address_v4(OUTSIDE_V4, 0);
	struct arpreq request = {.arp_flags = ATF_COM, .arp_dev = LINK};
	int fd = socket_or_broken(AF_INET, SOCK_DGRAM), error;

	memcpy(&request.arp_pa, &address.v4, sizeof(address.v4));
	request.arp_ha.sa_family = ARPHRD_ETHER;
	memcpy(request.arp_ha.sa_data, "\2\0\0\0\0\1", 6);
	error = outcome(ioctl(fd, SIOCSARP, &request));
	if (!error)
		NEED(ioctl(fd, SIOCDARP, &request));
	return error;
}

static int control(void)
{
	struct ifreq request = {.ifr_name = "lo"};

	return outcome(ioctl(socket_or_broken(AF_INET, SOCK_DGRAM), SIOCGIFADDR, &request));
}

REDTEAM(.attack = attack, .control = control)
