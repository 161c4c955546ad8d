/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, ports and sockets, at every edge of every prefix and range. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "policy/source/units.h"
#include "tests/unit/policy/support.h"

struct question {
	uint8_t bytes[20];
	size_t size;
};

static struct question net(const char *address, uint8_t protocol, uint16_t port)
{
	struct question q = {.bytes = {4, protocol}, .size = 8};

	if (inet_pton(AF_INET, address, q.bytes + 2) != 1) {
		q.bytes[0] = 6;
		assert_int_equal(inet_pton(AF_INET6, address, q.bytes + 2), 1);
		q.size = 20;
	}
	q.bytes[q.size - 2] = (uint8_t)(port >> 8);
	q.bytes[q.size - 1] = (uint8_t)port;
	return q;
}

static int may(const struct compiled_policy *p, struct question q, unsigned int right)
{
	struct cordon_verdict v = ask(p, CORDON_START_NET, q.bytes, q.size);

	return (v.allow & ~v.deny & CORDON_RIGHT(right)) != 0;
}

static int may_make(const struct compiled_policy *p, uint8_t family, uint8_t type,
		    uint16_t protocol)
{
	uint8_t q[] = {family, type, (uint8_t)(protocol >> 8), (uint8_t)protocol};
	struct cordon_verdict v = ask(p, CORDON_START_SOCKET, q, sizeof(q));

	return (v.allow & ~v.deny & CORDON_RIGHT(CORDON_SOCKET)) != 0;
}

static struct compiled_policy *compile_rule(const char *rule)
{
	char text[512];

	snprintf(text, sizeof(text), "version: 1\nnetwork:\n  - %s\n", rule);
	return compile_good(text);
}

/* Sockets for what is recorded, and no address of any use of them. */
static void test_record(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p =
		compile_good("version: 1\nnetwork: record\n");
	const uint8_t families[] = {AF_INET, AF_INET6}, protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	static const char *const addresses[] = {"203.0.113.7", "2001:db8::7", "127.0.0.1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		assert_true(may_make(p, families[i], SOCK_STREAM, IPPROTO_TCP));
		assert_true(may_make(p, families[i], SOCK_DGRAM, IPPROTO_UDP));
		assert_false(may_make(p, families[i], SOCK_DGRAM, IPPROTO_ICMP));
		assert_false(may_make(p, families[i], SOCK_STREAM, IPPROTO_SCTP));
		assert_false(may_make(p, families[i], SOCK_RAW, IPPROTO_TCP));
	}
	assert_false(may_make(p, AF_NETLINK, SOCK_RAW, 0));
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		for (size_t k = 0; k < ARRAY_SIZE(protocols); k++)
			for (unsigned int right = CORDON_NET_CONNECT; right <= CORDON_NET_LISTEN;
			     right++)
				assert_false(may(p, net(addresses[i], protocols[k], 443), right));
}

/* Each prefix length, and for each the addresses around both ends of the block. */
static void test_every_prefix(void **state)
{
	(void)state;
	for (unsigned int prefix = 0; prefix <= 32; prefix++) {
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
		uint32_t mask = prefix ? 0xffffffffu << (32 - prefix) : 0;
		uint32_t first = 0xc0a85a5au & mask, last = first | ~mask;
		struct in_addr base = {htonl(first)};
		char text[64], address[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, &base, address, sizeof(address));
		snprintf(text, sizeof(text), "{allow: [connect], to: [%s/%u]}", address, prefix);
		p = compile_rule(text);
		for (int step = -2; step <= 2; step++) {
			for (int end = 0; end < 2; end++) {
				uint32_t a = (end ? last : first) + (uint32_t)step;
				struct in_addr in = {htonl(a)};

				inet_ntop(AF_INET, &in, address, sizeof(address));
				assert_int_equal(may(p, net(address, IPPROTO_TCP, 1),
						     CORDON_NET_CONNECT),
						 (a & mask) == first && a != INADDR_BROADCAST);
			}
		}
	}
}

static void test_every_port(void **state)
{
	static const struct {
		const char *text;
		uint16_t low, high;
	} ranges[] = {
		{"0", 0, 0},
		{"65535", 65535, 65535},
		{"0-65535", 0, 65535},
		{"443", 443, 443},
		{"8000-8100", 8000, 8100},
		{"255-256", 255, 256},
		{"256-511", 256, 511},
		{"1-255", 1, 255},
		{"255-65280", 255, 65280},
		{"65279-65535", 65279, 65535},
		{"511-512", 511, 512},
		{"12345-54321", 12345, 54321},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
		char text[96];

		snprintf(text, sizeof(text), "{allow: [connect], to: any, ports: [%s]}",
			 ranges[i].text);
		p = compile_rule(text);
		for (uint32_t port = 0; port <= 65535; port++)
			if (may(p, net("1.2.3.4", IPPROTO_TCP, (uint16_t)port),
				CORDON_NET_CONNECT) !=
			    (port >= ranges[i].low && port <= ranges[i].high))
				fail_msg("ports %s at %u", ranges[i].text, port);
	}
}

static void test_families_and_protocols(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n"
		"  - {allow: [connect], to: ['2001:db8::/33'], ports: [443], protocols: [tcp, udp]}\n"
		"  - {allow: [bind, listen], to: ['::ffff:10.0.0.0/104'], protocols: [tcp]}\n"
		"  - {deny: [connect], to: ['2001:db8::bad'], protocols: [tcp]}\n"
		"  - {allow: [connect], to: any, protocols: [icmp]}\n");

	(void)state;
	assert_true(may(p, net("2001:db8:7fff::1", IPPROTO_TCP, 443), CORDON_NET_CONNECT));
	assert_true(may(p, net("2001:db8::1", IPPROTO_UDP, 443), CORDON_NET_CONNECT));
	assert_false(may(p, net("2001:db8:8000::1", IPPROTO_TCP, 443), CORDON_NET_CONNECT));
	assert_false(may(p, net("2001:db8::1", IPPROTO_TCP, 442), CORDON_NET_CONNECT));
	assert_false(may(p, net("2001:db8::bad", IPPROTO_TCP, 443), CORDON_NET_CONNECT));
	assert_true(may(p, net("2001:db8::bad", IPPROTO_UDP, 443), CORDON_NET_CONNECT));
	/* a mapped block is IPv4 */
	assert_true(may(p, net("10.1.2.3", IPPROTO_TCP, 80), CORDON_NET_LISTEN));
	assert_true(may(p, net("10.1.2.3", IPPROTO_TCP, 80), CORDON_NET_BIND));
	assert_false(may(p, net("10.1.2.3", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(may(p, net("::ffff:10.1.2.3", IPPROTO_TCP, 80), CORDON_NET_LISTEN));
	assert_true(may(p, net("1.2.3.4", IPPROTO_ICMP, 0), CORDON_NET_CONNECT));
	assert_true(may(p, net("2001:db8::1", IPPROTO_ICMPV6, 0), CORDON_NET_CONNECT));
	assert_false(may(p, net("2001:db8::1", IPPROTO_ICMP, 0), CORDON_NET_CONNECT));
	/* the sockets that these rules need, and no others */
	assert_true(may_make(p, AF_INET, SOCK_STREAM, IPPROTO_TCP));
	assert_true(may_make(p, AF_INET6, SOCK_STREAM, IPPROTO_TCP));
	assert_true(may_make(p, AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	assert_true(may_make(p, AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6));
	assert_false(may_make(p, AF_INET, SOCK_RAW, IPPROTO_TCP));
	assert_false(may_make(p, AF_INET, SOCK_STREAM, 262));
	assert_false(may_make(p, AF_NETLINK, SOCK_RAW, 0));
}

static void test_sockets(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *none =
		compile_good("version: 1\n");
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n"
		"  - {allow: [socket], families: [netlink, 40], types: [raw, 2], protocols: [route]}\n"
		"  - {allow: [socket], families: [packet]}\n"
		"  - {deny: [socket], families: [unix], types: [dgram]}\n");

	(void)state;
	for (unsigned int family = 0; family < 256; family++)
		for (unsigned int type = 0; type < 8; type++)
			assert_int_equal(may_make(none, (uint8_t)family, (uint8_t)type, 0),
					 family == AF_UNIX &&
						 (type == 1 || type == 2 || type == 5));
	assert_int_equal(ask(none, CORDON_START_SOCKET, "\1\1\0\0", 4).rule[CORDON_SOCKET],
			 CORDON_NO_RULE);
	assert_true(may_make(p, AF_NETLINK, SOCK_RAW, 0));
	assert_true(may_make(p, 40, SOCK_DGRAM, 0));
	assert_false(may_make(p, AF_NETLINK, SOCK_RAW, 9));
	assert_false(may_make(p, AF_NETLINK, SOCK_STREAM, 0));
	assert_true(may_make(p, AF_PACKET, SOCK_RAW, 0x0300));
	assert_false(may_make(p, AF_UNIX, SOCK_DGRAM, 0));
	assert_true(may_make(p, AF_UNIX, SOCK_STREAM, 0));
}

/* Loopback and metadata addresses: inside and at the edges of what is left out of wide blocks. */
static void test_sheltered(void **state)
{
	static const char *const inside[] = {
		"127.0.0.0",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.0.0",
		"169.254.169.254",
		"169.254.170.2",
		"169.254.255.255",
		"100.100.100.200",
		"168.63.129.16",
		"192.0.0.192",
		"::1",
		"fe80::",
		"febf:ffff::1",
		"fe80::a9fe:a9fe",
		"fd00:ec2::254",
		"fd00:ec2:0:ffff::1",
		"fd20:ce::254",
		"224.0.0.0",
		"239.255.255.250",
		"255.255.255.255",
		"ff02::fb",
		"ffff:ffff::",
		/* as NAT64 and 6to4 write them */
		"64:ff9b::169.254.169.254",
		"64:ff9b::127.0.0.1",
		"64:ff9b::100.100.100.200",
		"64:ff9b::168.63.129.16",
		"64:ff9b::224.0.0.1",
		"64:ff9b::255.255.255.255",
		"2002:a9fe:a9fe::1",
		"2002:7f00:1::",
		"2002:6464:64c8:ffff::",
		"2002:e000:1::1",
		/* and others */
		"::",
		"::2",
		"::169.254.169.254",
		"::ffff:0:169.254.169.254",
		"64:ff9b:1:a9fe:a9:fe00::",
		"2001::5601:5601",
	};
	static const char *const outside[] = {
		"126.255.255.255",
		"128.0.0.0",
		"169.253.255.255",
		"169.255.0.0",
		"100.100.100.199",
		"100.100.100.201",
		"168.63.129.15",
		"168.63.129.17",
		"192.0.0.191",
		"192.0.0.193",
		"10.0.0.1",
		"223.255.255.255",
		"240.0.0.0",
		"255.255.255.254",
		"64:ff9b::198.51.100.7",
		"64:ff9b::1:127.0.0.1",
		"64:ff9b:2::1",
		"2002:c633:6407::1",
		"2001:1::1",
		"2001:db8::1",
		"::1:0:0",
		"::fffe:0:0:1",
		"fe7f:ffff::",
		"fec0::",
		"fd00:ec1:ffff::",
		"fd00:ec3::",
		"fd20:ce::253",
		"fd20:ce::255",
		"fd20:ce:1::254",
	};
	_cleanup_(compiled_policy_freep) struct compiled_policy *any =
		compile_rule("{allow: [all], to: any, ports: [80]}");
	_cleanup_(compiled_policy_freep) struct compiled_policy *wide =
		compile_rule("{allow: [connect], to: [0.0.0.0/0, '::/0'], ports: [80]}");
	_cleanup_(compiled_policy_freep) struct compiled_policy *named = compile_rule(
		"{allow: [connect], to: [127.0.0.0/8, '::1', 169.254.0.0/16, 169.254.170.2]}");
	_cleanup_(compiled_policy_freep) struct compiled_policy *dressed = compile_rule(
		"{allow: [connect], to: ['64:ff9b::a9fe:0/112', 224.0.0.0/4, 'ff02::fb']}");
	_cleanup_(compiled_policy_freep) struct compiled_policy *half =
		compile_rule("{allow: [connect], to: [127.0.0.0/9, 126.0.0.0/7, 'fd00::/8']}");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++) {
		struct question q = net(inside[i], IPPROTO_TCP, 80);

		assert_false(may(any, q, CORDON_NET_CONNECT));
		assert_false(may(wide, q, CORDON_NET_CONNECT));
		/* being reached is no way out */
		assert_true(may(any, q, CORDON_NET_BIND));
		assert_true(may(any, q, CORDON_NET_LISTEN));
	}
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		assert_true(may(any, net(outside[i], IPPROTO_TCP, 80), CORDON_NET_CONNECT));
		assert_true(may(wide, net(outside[i], IPPROTO_TCP, 80), CORDON_NET_CONNECT));
		assert_false(may(wide, net(outside[i], IPPROTO_TCP, 81), CORDON_NET_CONNECT));
	}
	assert_true(may(named, net("127.9.9.9", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(named, net("::1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	/* the block of link-local addresses is named, but not what lies in it */
	assert_true(may(named, net("169.254.1.1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(may(named, net("169.254.169.254", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(named, net("169.254.170.2", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(dressed, net("64:ff9b::169.254.1.1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(
		may(dressed, net("64:ff9b::169.254.169.254", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(dressed, net("224.0.0.251", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(dressed, net("ff02::fb", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(half, net("127.0.0.1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(may(half, net("127.128.0.1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(half, net("126.128.0.1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_true(may(half, net("fd01::1", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(may(half, net("fd00:ec2::254", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
}

/* Which rules lead to an address even where that is the host's own. */
static void test_host(void **state)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = compile_good(
		"version: 1\nnetwork:\n"
		"  - {allow: [connect], to: [10.0.0.5, '2001:db8::5', 127.0.0.0/8, 10.1.0.0/16]}\n"
		"  - {allow: [bind], to: [10.0.0.6]}\n"
		"  - {allow: [connect], to: any, ports: [443]}\n"
		"  - {deny: [connect], to: [10.0.0.5], ports: [22]}\n");

	(void)state;
	assert_true(may(p, net("10.0.0.5", IPPROTO_TCP, 80), CORDON_NET_HOST));
	assert_true(may(p, net("2001:db8::5", IPPROTO_TCP, 80), CORDON_NET_HOST));
	assert_true(may(p, net("127.0.0.1", IPPROTO_TCP, 80), CORDON_NET_HOST));
	/* reached, but not named */
	assert_true(may(p, net("10.1.0.5", IPPROTO_TCP, 80), CORDON_NET_CONNECT));
	assert_false(may(p, net("10.1.0.5", IPPROTO_TCP, 80), CORDON_NET_HOST));
	assert_true(may(p, net("10.9.0.5", IPPROTO_TCP, 443), CORDON_NET_CONNECT));
	assert_false(may(p, net("10.9.0.5", IPPROTO_TCP, 443), CORDON_NET_HOST));
	assert_false(may(p, net("10.0.0.6", IPPROTO_TCP, 443), CORDON_NET_HOST));
	assert_false(may(p, net("10.0.0.5", IPPROTO_TCP, 22), CORDON_NET_HOST));
	assert_false(may(p, net("10.0.0.5", IPPROTO_UDP, 80), CORDON_NET_HOST));
}

static void test_blocks(void **state)
{
	struct net_block b;
	char text[UNITS_BLOCK_TEXT];

	(void)state;
	assert_int_equal(units_block("10.0.0.0/8", &b), 0);
	units_block_format(&b, text);
	assert_string_equal(text, "10.0.0.0/8");
	assert_int_equal(units_block("::ffff:1.2.3.4", &b), 0);
	units_block_format(&b, text);
	assert_string_equal(text, "1.2.3.4");
	assert_int_equal(units_block("::/0", &b), 0);
	assert_int_equal(b.family, 6);
	assert_int_equal(units_block("10.0.0.1/8", &b), -EDOM);
	assert_int_equal(units_block("10.0.0.0/33", &b), -ERANGE);
	assert_int_equal(units_block("10.0.0.0/", &b), -EINVAL);
	assert_int_equal(units_block("10.0.0.0/8/8", &b), -EINVAL);
	assert_int_equal(units_block("10.0.0", &b), -EINVAL);
	assert_int_equal(units_block("", &b), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),	   cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_every_port), cmocka_unit_test(test_families_and_protocols),
		cmocka_unit_test(test_sockets),	   cmocka_unit_test(test_sheltered),
		cmocka_unit_test(test_host),	   cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
