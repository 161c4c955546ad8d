// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: asks a DNS server of its own choice by a socket that the host made, which no program of
 *   cordon's leads to the stub
 * Hook: socket_sendmsg
 * Errno: EACCES
 * Control: asks it by a socket of its own, and is led to the stub
 * Record: send 198.51.100.7:53
 * As: root+outside user+outside
 */
#include "tests/redteam/dns.h"

static int ask_by(int fd)
{
	struct address address = address_v4(OUTSIDE_V4, PORT_DNS);
	unsigned char message[DNS_SIZE];
	size_t length = dns_query(message, NAME_ALLOWED, DNS_ADDRESS);
	int error = outcome(sendto(fd, message, length, 0, &address.any, address.length));

	close(fd);
	return error;
}

static int attack(void)
{
	struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	int fd = receive_descriptor("socket:udp:7101");

	if (fd < 0)
		broken("no socket arrived");
	NEED(connect(fd, &nobody, sizeof(nobody)));
	return ask_by(fd);
}

static int control(void)
{
	return ask_by(socket_or_broken(AF_INET, SOCK_DGRAM));
}

REDTEAM(.attack = attack, .control = control)
