// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: makes sockets of families that have the kernel send packets, with their modules loaded
 * Hook: socket_create
 * Errno: EACCES
 * Control: makes a socket for what is allowed
 * Record: socket $ANY
 * As: root bare user
 */
#include <linux/netlink.h>

#include "tests/redteam/net.h"

/* MCTP would be one; none of the kernels has it. */
static const struct kind {
	const char *module;
	int family, type, protocol;
	bool root;
} kinds[] = {
	{"xfrm_user", AF_NETLINK, SOCK_RAW, NETLINK_XFRM, false},
	{"af_key", AF_KEY, SOCK_RAW, 2 /* PF_KEY_V2 */, true},
	{"tipc", AF_TIPC, SOCK_RDM, 0, false},
	{"can-raw", AF_CAN, SOCK_RAW, 1 /* CAN_RAW */, false},
	{"bluetooth", AF_BLUETOOTH, SOCK_SEQPACKET, 0 /* BTPROTO_L2CAP */, false},
	{"rds", AF_RDS, SOCK_SEQPACKET, 0, false},
	{"kcm", AF_KCM, SOCK_DGRAM, 0, false},
	{"qrtr", AF_QIPCRTR, SOCK_DGRAM, 0, false},
	{"llc2", AF_LLC, SOCK_DGRAM, 0, true},
	{"l2tp_ip", AF_INET, SOCK_DGRAM, 115 /* IPPROTO_L2TP */, false},
};

static void setup(void)
{
	char command[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(command, sizeof(command), "modprobe -q %s", kinds[i].module);
		if (system(command))
			broken(command);
	}
}

/* Unconfined each has to be made, confined none: what stands out is told. */
static int attack(void)
{
	int expected = getenv("REDTEAM_CONFINED") ? EACCES : 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int error;

		if (kinds[i].root && geteuid() != 0)
			continue;
		error = try_socket(kinds[i].family, kinds[i].type, kinds[i].protocol);
		if (error != expected) {
			fprintf(stderr, "%s: %s\n", kinds[i].module, strerror(error));
			return error;
		}
	}
	return expected;
}

static int control(void)
{
	return try_socket(AF_INET, SOCK_STREAM, 0);
}

REDTEAM(.setup = setup, .attack = attack, .control = control)
