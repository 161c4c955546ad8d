// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes a tunnel, in which packets go elsewhere than they say
 * Hook: (not held)
 * Errno: EPERM
 * Control: asks for the address of a device
 * Record: none
 * As: bare
 */
#include <linux/if_tunnel.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(system("modprobe -q ipip"));
}

static int attack(void)
{
	struct ip_tunnel_parm tunnel = {
		.name = "redteam-tunnel",
		.iph = {.version = 4, .ihl = 5, .protocol = IPPROTO_IPIP, .daddr = 0x0200007f},
	};
	struct ifreq request = {.ifr_name = "tunl0", .ifr_data = (void *)&tunnel};
	int fd = NEED(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), error;

	error = outcome(ioctl(fd, SIOCADDTUNNEL, &request));
	if (!error) {
		strcpy(request.ifr_name, tunnel.name);
		NEED(ioctl(fd, SIOCDELTUNNEL, &request));
	}
	return error;
}

static int control(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = NEED(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	return outcome(ioctl(fd, SIOCGIFADDR, &request));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
