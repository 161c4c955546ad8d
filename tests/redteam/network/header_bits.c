// SPDX-License-Identifier: Apache-2.0
/*
 * Attack: sets bits of a connection's headers, its TCP options and probes, and connects
 * Hook: socket_connect
 * Errno: EACCES
 * Control: does so to the allowed port
 * Record: connect 127.0.0.1:7102
 * As: root bare user
 */
#include "tests/redteam/net.h"

static const struct bit {
	int level, name, value;
} bits[] = {
	{SOL_IP, IP_TTL, 9},
	{SOL_IP, IP_TOS, 0x10},
	{SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE},
	{SOL_SOCKET, SO_PRIORITY, 5},
	{SOL_SOCKET, SO_KEEPALIVE, 1},
	{SOL_TCP, TCP_KEEPIDLE, 1},
	{SOL_TCP, TCP_KEEPINTVL, 1},
	{SOL_TCP, TCP_USER_TIMEOUT, 1000},
	{SOL_TCP, TCP_MAXSEG, 600},
	{SOL_TCP, TCP_SYNCNT, 2},
	{SOL_TCP, TCP_WINDOW_CLAMP, 4096},
};

static int connect_with_bits(int port)
{
	struct address address = address_v4("127.0.0.1", port);
	int fd = socket_or_broken(AF_INET, SOCK_STREAM), error;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		NEED(setsockopt(fd, bits[i].level, bits[i].name, &bits[i].value, sizeof(int)));
	error = outcome(connect(fd, &address.any, address.length));
	close(fd);
	return error;
}

static int attack(void)
{
	return connect_with_bits(PORT_FORBIDDEN);
}

static int control(void)
{
	return connect_with_bits(PORT_ALLOWED);
}

REDTEAM(.attack = attack, .control = control)
