// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: gives a socket an IPsec policy, by which its packets go elsewhere than they say
 * Hook: (not held)
 * Errno: EPERM
 * Control: sets a harmless option
 * Record: none
 * As: bare
 */
#include <linux/xfrm.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/redteam/attack.h"

static void setup(void)
{
	NEED(system("modprobe -q xfrm_user"));
}

static int attack(void)
{
	struct xfrm_userpolicy_info policy = {
		.sel.family = AF_INET,
		.dir = XFRM_POLICY_OUT,
		.action = XFRM_POLICY_ALLOW,
	};
	int fd = NEED(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));

	return outcome(setsockopt(fd, SOL_IP, 17 /* IP_XFRM_POLICY */, &policy, sizeof(policy)));
}

static int control(void)
{
	int fd = NEED(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), ttl = 9;

	return outcome(setsockopt(fd, SOL_IP, IP_TTL, &ttl, sizeof(ttl)));
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
