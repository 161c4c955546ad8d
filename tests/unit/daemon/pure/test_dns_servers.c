/* SPDX-License-Identifier: Apache-2.0 */
/* The host's DNS servers, read from the text of resolv.conf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/pure/dns_servers.h"

static const char *text_of(const struct dns_server *server, char text[INET6_ADDRSTRLEN])
{
	const struct sockaddr_in *v4 = (const void *)&server->address;
	const struct sockaddr_in6 *v6 = (const void *)&server->address;

	if (v4->sin_family == AF_INET) {
		assert_int_equal(v4->sin_port, htons(53));
		return inet_ntop(AF_INET, &v4->sin_addr, text, INET6_ADDRSTRLEN);
	}
	assert_int_equal(v6->sin6_port, htons(53));
	return inet_ntop(AF_INET6, &v6->sin6_addr, text, INET6_ADDRSTRLEN);
}

static void check(const char *file, size_t count, const char *const *expected)
{
	char text[INET6_ADDRSTRLEN];
	struct dns_servers servers;

	dns_servers_parse(file, strlen(file), &servers);
	assert_int_equal(servers.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(text_of(&servers.list[i], text), expected[i]);
}

static void test_lines(void **state)
{
	(void)state;
	check("nameserver 192.0.2.1\n", 1, (const char *[]){"192.0.2.1"});
	check("# x\nsearch a b\nnameserver\t2001:db8::1  \noptions edns0\nnameserver 192.0.2.2", 2,
	      (const char *[]){"2001:db8::1", "192.0.2.2"});
	check("nameserver 192.0.2.1 192.0.2.9\r\nnameserver 192.0.2.2\r\n", 2,
	      (const char *[]){"192.0.2.1", "192.0.2.2"});
	check("nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\nnameserver 1.1.1.4\n", 3,
	      (const char *[]){"1.1.1.1", "1.1.1.2", "1.1.1.3"});
}

static void test_nothing(void **state)
{
	static const char *const here[] = {"127.0.0.1"};
	static const char *const files[] = {
		"",
		"\n\n",
		"nameserver\n",
		"nameserver \n",
		"nameserver",
		"nameserver example.org\n",
		"nameservers 192.0.2.1\n",
		" nameserver 192.0.2.1\n",
		"nameserver 192.0.2\033\n",
		"nameserver 300.1.1.1\n",
	};
	char long_line[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		check(files[i], 1, here);
	memset(long_line, '1', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	memcpy(long_line, "nameserver ", strlen("nameserver "));
	check(long_line, 1, here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
