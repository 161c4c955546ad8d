/* SPDX-License-Identifier: Apache-2.0 */
/* DNS messages: what is asked, what an answer says, and what is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/pure/dns_message.h"

struct message {
	uint8_t data[1024];
	size_t size;
};

static void add(struct message *m, const char *bytes, size_t size)
{
	memcpy(m->data + m->size, bytes, size);
	m->size += size;
}

#define ADD(m, literal) add(m, literal, sizeof(literal) - 1)

/* www.a.org is asked for, as type A. */
static struct message answer_to(const char *id, const char *flags, char answers)
{
	struct message m = {0};

	add(&m, id, 2);
	add(&m, flags, 2);
	ADD(&m, "\0\1\0");
	add(&m, &answers, 1);
	ADD(&m, "\0\0\0\0\3www\1a\3org\0\0\1\0\1");
	return m;
}

static const struct dns_query query = {.id = 0x1234, .type = DNS_TYPE_A, .name = "www.a.org"};

static void test_query(void **state)
{
	uint8_t buffer[DNS_QUERY_MAX];
	struct dns_query read;
	size_t size = dns_query_write(&query, buffer);

	(void)state;
	assert_int_equal(dns_query_read(buffer, size, &read), 0);
	assert_int_equal(read.id, 0x1234);
	assert_int_equal(read.type, DNS_TYPE_A);
	assert_string_equal(read.name, "www.a.org");
	for (size_t cut = 0; cut < size - 11; cut++)
		assert_true(dns_query_read(buffer, cut, &read) < 0);
	/* capital letters are the same name; other classes and answers are no queries */
	buffer[13] = 'W';
	assert_int_equal(dns_query_read(buffer, size, &read), 0);
	assert_string_equal(read.name, "www.a.org");
	buffer[2] |= 0x80;
	assert_int_equal(dns_query_read(buffer, size, &read), -EBADMSG);
	buffer[2] = 0x10;
	assert_int_equal(dns_query_read(buffer, size, &read), -EINVAL);
	buffer[2] = 1;
	buffer[5] = 2;
	assert_int_equal(dns_query_read(buffer, size, &read), -EINVAL);
	buffer[5] = 1;
	buffer[14] = '/';
	assert_int_equal(dns_query_read(buffer, size, &read), -EINVAL);
	assert_string_equal(read.name, "");
}

static void test_addresses(void **state)
{
	struct message m = answer_to("\x12\x34", "\x81\x80", 3);
	struct dns_answer answer;

	(void)state;
	ADD(&m, "\xc0\x0c\0\1\0\1\0\0\1\0\0\4\1\2\3\4");
	ADD(&m, "\5other\xc0\x10\0\1\0\1\0\0\1\0\0\4\5\5\5\5");
	ADD(&m, "\3WWW\xc0\x10\0\1\0\1\0\0\0\x10\0\4\1\2\3\5");
	assert_int_equal(dns_answer_read(m.data, m.size, &query, &answer), 0);
	assert_int_equal(answer.address_count, 2);
	assert_memory_equal(answer.addresses[1].address, "\1\2\3\5", 4);
	assert_int_equal(answer.ttl, 16);
	for (size_t cut = 0; cut < m.size; cut++)
		assert_int_equal(dns_answer_read(m.data, cut, &query, &answer), -EBADMSG);
}

static void test_aliases(void **state)
{
	struct message m = answer_to("\x12\x34", "\x81\x80", 3);
	struct dns_answer answer;
	uint8_t buffer[DNS_PLAIN_MAX];
	size_t size;

	(void)state;
	ADD(&m, "\3cdn\xc0\x10\0\1\0\1\0\0\0\7\0\4\1\2\3\4");
	ADD(&m, "\1x\xc0\x10\0\5\0\1\0\0\0\5\0\6\3cdn\xc0\x10");
	ADD(&m, "\xc0\x0c\0\5\0\1\0\0\0\6\0\4\1x\xc0\x10");
	assert_int_equal(dns_answer_read(m.data, m.size, &query, &answer), 0);
	assert_int_equal(answer.alias_count, 2);
	assert_string_equal(answer.aliases[0], "x.a.org");
	assert_string_equal(answer.aliases[1], "cdn.a.org");
	assert_int_equal(answer.address_count, 1);
	assert_int_equal(answer.ttl, 5);
	/* what the client gets has the address under the name that it asked for */
	size = dns_answer_write(&query, &answer, buffer, sizeof(buffer));
	assert_true(size > 0);
	assert_int_equal(dns_answer_read(buffer, size, &query, &answer), 0);
	assert_int_equal(answer.alias_count, 0);
	assert_int_equal(answer.address_count, 1);
}

static void test_loops(void **state)
{
	struct message alias = answer_to("\x12\x34", "\x81\x80", 1);
	struct message pointer = answer_to("\x12\x34", "\x81\x80", 1);
	struct message forward = answer_to("\x12\x34", "\x81\x80", 1);
	struct dns_answer answer;

	(void)state;
	ADD(&alias, "\xc0\x0c\0\5\0\1\0\0\0\6\0\2\xc0\x0c");
	assert_int_equal(dns_answer_read(alias.data, alias.size, &query, &answer), -ELOOP);
	ADD(&pointer, "\xc0\x1b\0\1\0\1\0\0\0\6\0\4\1\2\3\4");
	assert_int_equal(dns_answer_read(pointer.data, pointer.size, &query, &answer), -EBADMSG);
	ADD(&forward, "\xc0\x30\0\1\0\1\0\0\0\6\0\4\1\2\3\4");
	assert_int_equal(dns_answer_read(forward.data, forward.size, &query, &answer), -EBADMSG);
}

static void test_others(void **state)
{
	struct message other_id = answer_to("\x12\x35", "\x81\x80", 0);
	struct message no_name = answer_to("\x12\x34", "\x81\x83", 0);
	struct message cut = answer_to("\x12\x34", "\x83\x80", 1);
	struct message short_address = answer_to("\x12\x34", "\x81\x80", 1);
	struct dns_answer answer;

	(void)state;
	assert_int_equal(dns_answer_read(other_id.data, other_id.size, &query, &answer), -EBADMSG);
	assert_int_equal(dns_answer_read(no_name.data, no_name.size, &query, &answer), 0);
	assert_int_equal(answer.code, DNS_CODE_NO_NAME);
	assert_int_equal(answer.address_count, 0);
	assert_int_equal(dns_answer_read(cut.data, cut.size, &query, &answer), 0);
	assert_true(answer.truncated);
	ADD(&short_address, "\xc0\x0c\0\1\0\1\0\0\1\0\0\3\1\2\3");
	assert_int_equal(dns_answer_read(short_address.data, short_address.size, &query, &answer),
			 -EBADMSG);
}

/* However many there are, an answer keeps to its room and is well formed. */
static void test_room(void **state)
{
	struct dns_query wide = {.id = 1, .type = DNS_TYPE_AAAA};
	struct dns_answer answer = {.ttl = 60, .address_count = DNS_ADDRESSES_MAX}, read;
	uint8_t buffer[DNS_PLAIN_MAX];

	(void)state;
	memset(wide.name, 'a', 253);
	for (size_t i = 63; i < 253; i += 64)
		wide.name[i] = '.';
	for (size_t i = 0; i < DNS_ADDRESSES_MAX; i++)
		answer.addresses[i].family = 6;
	for (size_t size = 0; size <= sizeof(buffer); size++) {
		size_t n = dns_answer_write(&wide, &answer, buffer, size);

		assert_true(n <= size);
		if (n == 0)
			continue;
		assert_int_equal(dns_answer_read(buffer, n, &wide, &read), 0);
	}
	assert_int_equal(read.address_count, (DNS_PLAIN_MAX - 12 - 259) / 28);
}

/* What a reader may not say, whoever speaks for it. */
static void test_possible(void **state)
{
	struct dns_query asked = query;
	struct dns_answer answer = {.address_count = 1, .alias_count = 1, .aliases = {"x.a.org"}};

	(void)state;
	answer.addresses[0].family = 4;
	assert_true(dns_query_is_possible(&asked));
	assert_true(dns_answer_is_possible(&answer, &asked));
	asked.type = DNS_TYPE_AAAA;
	assert_false(dns_answer_is_possible(&answer, &asked));
	asked = query;
	answer.address_count = DNS_ADDRESSES_MAX + 1;
	assert_false(dns_answer_is_possible(&answer, &asked));
	answer.address_count = 1;
	answer.alias_count = DNS_ALIASES_MAX + 1;
	assert_false(dns_answer_is_possible(&answer, &asked));
	answer.alias_count = 1;
	answer.aliases[0][0] = 'X';
	assert_false(dns_answer_is_possible(&answer, &asked));
	memset(answer.aliases[0], 'a', sizeof(answer.aliases[0]));
	assert_false(dns_answer_is_possible(&answer, &asked));
	answer.alias_count = 0;
	answer.code = (enum dns_code)16;
	assert_false(dns_answer_is_possible(&answer, &asked));
	answer.code = DNS_CODE_FINE;
	answer.truncated = 2;
	assert_false(dns_answer_is_possible(&answer, &asked));
	memset(asked.name, 'a', sizeof(asked.name));
	assert_false(dns_query_is_possible(&asked));
	asked = query;
	asked.recursion = 2;
	assert_false(dns_query_is_possible(&asked));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),	 cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_aliases),	 cmocka_unit_test(test_loops),
		cmocka_unit_test(test_others),	 cmocka_unit_test(test_room),
		cmocka_unit_test(test_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
