/* SPDX-License-Identifier: Apache-2.0 */
/* Which URLs carry records over a network unencrypted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/ship/clear_text.h"

static void leaves_the_machine(void **state)
{
	static const char *const urls[] = {
		"nats://nats.example",
		"nats://192.0.2.1:4222",
		"nats://user:127.0.0.1@nats.example:4222",
		"nats://127.0.0.1@nats.example",
		"nats://localhost.example",
		"nats://127.0.0.1.example",
		"nats://128.0.0.1",
		"nats://0.0.0.0",
		"nats://[2001:db8::1]:4222",
		"nats://[::]",
		"nats.example:4222",
		"http://collector:4318/v1/logs",
		"http://collector/@localhost",
		"nats://127.0.0.1:4222,nats://nats.example",
		"tls://nats.example, nats://nats.example",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
		if (!clear_text_leaves_machine(urls[i]))
			fail_msg("%s", urls[i]);
}

static void stays(void **state)
{
	static const char *const urls[] = {
		"nats://localhost:4222",
		"nats://LOCALHOST",
		"nats://127.0.0.1:4222",
		"nats://127.9.9.9",
		"nats://[::1]:4222",
		"nats://u:p@localhost",
		"127.0.0.1:4222",
		"tls://nats.example",
		"TLS://nats.example:4222",
		"https://a:4318/v1/logs",
		"http://[::1]:4318/v1",
		"tls://a,nats://127.0.0.1",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++)
		if (clear_text_leaves_machine(urls[i]))
			fail_msg("%s", urls[i]);
	assert_true(clear_text_is_encrypted("tls://a"));
	assert_true(clear_text_is_encrypted("nats://a,tls://b"));
	assert_false(clear_text_is_encrypted("nats://tls://b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves_the_machine),
		cmocka_unit_test(stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
