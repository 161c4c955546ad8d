/* SPDX-License-Identifier: Apache-2.0 */
/* Which sockets have an address of this host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/live/sockets.h"

static struct socket_address parsed(const char *text)
{
	struct socket_address address;

	assert_int_equal(socket_address_parse(text, &address), 0);
	return address;
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {
		"",
		":",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:0",
		"127.0.0.1:+1",
		"127.0.0.1:65536",
		"127.0.0.1:1x",
		"127.1:80",
		"host:80",
		"::1:80",
		"[::1]",
		"[::1:80",
		"[]:80",
		"[127.0.0.1]:80",
		"1111111111111111111111111111111111111111111111111111111111111:80",
	};
	static const unsigned char mapped[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};
	struct socket_address address = parsed("192.0.2.1:443");

	(void)state;
	assert_memory_equal(&address.address, mapped, 16);
	assert_int_equal(address.port, 443);
	address = parsed("[::1]:65535");
	assert_memory_equal(&address.address, &in6addr_loopback, 16);
	assert_int_equal(address.port, 65535);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(socket_address_parse(bad[i], &address), -EINVAL);
}

/* What is bound to every address counts only beside nothing better, whichever comes first. */
static void test_owners(void **state)
{
	const struct socket_ends wanted = {.local = parsed("127.0.0.1:80")},
				 other = {.local = parsed("127.0.0.2:80")},
				 any4 = {.local = parsed("0.0.0.0:80")},
				 any6 = {.local = parsed("[::]:80")};
	struct socket_owners owners = {};

	(void)state;
	socket_owners_note(&owners, &wanted, &other, 1);
	assert_int_equal(owners.count, 0);
	socket_owners_note(&owners, &wanted, &any4, 2);
	socket_owners_note(&owners, &wanted, &any6, 3);
	socket_owners_note(&owners, &wanted, &any4, 2);
	assert_int_equal(owners.count, 2);
	socket_owners_note(&owners, &wanted, &wanted, 4);
	socket_owners_note(&owners, &wanted, &any4, 2);
	assert_true(owners.exact);
	assert_int_equal(owners.count, 1);
	assert_int_equal(owners.cgroups[0], 4);
	for (uint64_t cgroup = 10; cgroup < 100; cgroup++)
		socket_owners_note(&owners, &wanted, &wanted, cgroup);
	assert_int_equal(owners.count, SOCKETS_CGROUPS_MAX);
}

/* With the other end, only what is connected to it: others may have the same local address. */
static void test_connected(void **state)
{
	const struct socket_address local = parsed("127.0.0.1:40000");
	const struct socket_ends wanted = {local, parsed("127.0.0.1:3128")},
				 elsewhere = {local, parsed("127.0.0.1:3129")},
				 another = {local, parsed("127.0.0.2:3128")},
				 none = {.local = local};
	struct socket_owners owners = {};

	(void)state;
	socket_owners_note(&owners, &wanted, &elsewhere, 1);
	socket_owners_note(&owners, &wanted, &another, 2);
	socket_owners_note(&owners, &wanted, &none, 3);
	assert_int_equal(owners.count, 0);
	socket_owners_note(&owners, &wanted, &wanted, 4);
	assert_int_equal(owners.count, 1);
	assert_int_equal(owners.cgroups[0], 4);
	/* Without it, all of them. */
	socket_owners_note(&owners, &none, &elsewhere, 1);
	assert_int_equal(owners.count, 2);
}

/*
 * A socket of this process with that address, its port in *ret_port. -1: this host does not have
 * the address.
 */
static int own_socket(int family, int type, const struct in6_addr *address, uint16_t *ret_port)
{
	int fd = socket(family, type | SOCK_CLOEXEC, 0);
	struct sockaddr_storage name = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *four = (struct sockaddr_in *)&name;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&name;
	socklen_t size = family == AF_INET ? sizeof(*four) : sizeof(*six);

	if (fd < 0)
		return -1;
	if (family == AF_INET)
		memcpy(&four->sin_addr, &address->s6_addr[12], 4);
	else
		six->sin6_addr = *address;
	if (bind(fd, (struct sockaddr *)&name, size) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 1) < 0) ||
	    getsockname(fd, (struct sockaddr *)&name, &size) < 0) {
		close(fd);
		return -1;
	}
	*ret_port = ntohs(family == AF_INET ? four->sin_port : six->sin6_port);
	return fd;
}

/*
 * The kernel has it in its list, with a cgroup, for as long as it is open; another try where
 * somebody else has that port.
 */
static void find_own(int family, int type, const char *text)
{
	struct socket_ends wanted = {.local = parsed(text)};
	bool good = false;

	for (int tries = 0; tries < 20 && !good; tries++) {
		struct socket_owners open = {}, closed = {};
		int fd = own_socket(family, type, &wanted.local.address, &wanted.local.port);

		if (fd < 0 && family == AF_INET6)
			return;
		assert_true(fd >= 0);
		assert_int_equal(socket_owners_find(&wanted, &open), 0);
		close(fd);
		assert_int_equal(socket_owners_find(&wanted, &closed), 0);
		good = open.count == 1 && open.exact && closed.count == 0;
	}
	assert_true(good);
}

static void test_found(void **state)
{
	(void)state;
	find_own(AF_INET, SOCK_STREAM, "127.0.0.1:1");
	find_own(AF_INET, SOCK_DGRAM, "127.0.0.1:1");
	find_own(AF_INET6, SOCK_STREAM, "[::1]:1");
	find_own(AF_INET6, SOCK_DGRAM, "[::1]:1");
}

static int listener_at(uint16_t port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in name = {.sin_family = AF_INET,
				   .sin_port = htons(port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static struct socket_address name_of(int fd)
{
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	char text[INET_ADDRSTRLEN + 8];

	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &size), 0);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(name.sin_port));
	return parsed(text);
}

/* The kernel tells a connection from one with the same local address that leads elsewhere. */
static void test_two_places(void **state)
{
	_cleanup_(closep) int to = listener_at(0), beside = listener_at(0);
	_cleanup_(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const struct socket_address there = name_of(to), elsewhere = name_of(beside);
	struct sockaddr_in name = {.sin_family = AF_INET,
				   .sin_port = htons(there.port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct socket_owners owners;
	struct socket_ends wanted;

	(void)state;
	assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	wanted = (struct socket_ends){name_of(fd), there};
	assert_int_equal(socket_owners_find(&wanted, &owners), 0);
	assert_int_equal(owners.count, 1);
	wanted.remote = elsewhere;
	assert_int_equal(socket_owners_find(&wanted, &owners), 0);
	assert_int_equal(owners.count, 0);
}

static struct socket_connection connection_of(unsigned int local, unsigned int remote)
{
	struct socket_connection c = {};

	socket_connection_note(&c, SOCKET_END_LOCAL, local, 11);
	socket_connection_note(&c, SOCKET_END_REMOTE, remote, 22);
	return c;
}

/* What may be the maker's of a connection is known while both ends are connected, and not later. */
static void test_stayed(void **state)
{
	const struct socket_connection up = connection_of(TCP_ESTABLISHED, TCP_ESTABLISHED);
	const struct socket_connection closing = connection_of(TCP_FIN_WAIT2, TCP_CLOSE_WAIT);
	const struct socket_connection begins = connection_of(TCP_SYN_SENT, TCP_ESTABLISHED);
	const struct socket_connection gone = {}, alone = {.local = 11}, end = {.remote = 22};
	struct socket_connection another = up, twice = up;

	(void)state;
	another.local = 12;
	socket_connection_note(&twice, SOCKET_END_REMOTE, TCP_ESTABLISHED, 23);
	assert_true(socket_connection_stayed(&up, &up, 0));
	assert_true(socket_connection_stayed(&up, &closing, 22));
	assert_true(socket_connection_stayed(&alone, &alone, 0));
	assert_true(socket_connection_stayed(&gone, &gone, 0));
	assert_false(socket_connection_stayed(&up, &gone, 0));
	assert_false(socket_connection_stayed(&gone, &up, 0));
	assert_false(socket_connection_stayed(&up, &another, 0));
	assert_false(socket_connection_stayed(&up, &begins, 0));
	assert_false(socket_connection_stayed(&twice, &twice, 0));
	assert_false(socket_connection_stayed(&end, &end, 0));
	/* The proxy's socket is the one that was reset: another has its address. */
	assert_false(socket_connection_stayed(&up, &up, 21));
	assert_false(socket_connection_stayed(&alone, &alone, 22));
}

/* The kernel's list has both ends, and their cookies are those of SO_COOKIE. */
static void test_look(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted;
	socklen_t size = sizeof(at), length = sizeof(uint64_t);
	struct socket_connection found;
	struct socket_ends ends;
	uint64_t cookie = 0;
	char text[32];

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(at.sin_port));
	ends.remote = parsed(text);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(client, (struct sockaddr *)&at, &size), 0);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(at.sin_port));
	ends.local = parsed(text);
	accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(accepted >= 0);
	assert_int_equal(getsockopt(accepted, SOL_SOCKET, SO_COOKIE, &cookie, &length), 0);
	assert_int_equal(socket_connection_look(&ends, &found), 0);
	assert_true(found.local && !found.others);
	assert_int_equal(found.remote, cookie);
	close(client);
	close(accepted);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_owners),
		cmocka_unit_test(test_connected), cmocka_unit_test(test_two_places),
		cmocka_unit_test(test_found),	  cmocka_unit_test(test_stayed),
		cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
