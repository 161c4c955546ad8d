// SPDX-License-Identifier: Apache-2.0
/*
 * What was sent and received, put to words: the most first, and harmless whatever a record holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "audit/record/traffic.h"
#include "insight/page/page.h"
#include "insight/story/header.h"
#include "insight/story/line.h"
#include "insight/story/traffic.h"
#include "tests/unit/audit/fixture.h"

static json_t *record_of(struct fixture *f, const void *name, size_t size,
			 struct audit_traffic traffic)
{
	json_t *record;

	memcpy(traffic.counts.name, name, size);
	record = audit_record_traffic(&f->execution, &traffic, FIXTURE_TIME);
	assert_non_null(record);
	return record;
}

/* To, from, to by IPv6, and the rest: the order is that of a log. */
static void make(struct fixture *f, json_t *records[5])
{
	static const unsigned char one[] = {4, 6, 203, 0, 113, 7, 1, 0xbb};
	static const unsigned char two[] = {4, 6, 198, 51, 100, 2, 0, 80};
	static const unsigned char six[20] = {6, 17, 0x20, 1, 0xd, 0xb8, [17] = 1, [19] = 53};

	fixture_init(f);
	records[0] = audit_record_start(&f->execution, FIXTURE_TIME);
	records[1] =
		record_of(f, one, sizeof(one),
			  (struct audit_traffic){.counts = {.bytes_sent = 900000}, .rest = true});
	records[2] = record_of(f, one, sizeof(one),
			       (struct audit_traffic){.counts = {.bytes_sent = 500,
								 .bytes_received = 400,
								 .connections = 1},
						      .domain = "\x1b[2Jexample.org"});
	records[3] = record_of(f, two, sizeof(two),
			       (struct audit_traffic){.counts = {.served = 1,
								 .bytes_received = 2000,
								 .connections = 2}});
	records[4] = record_of(f, six, sizeof(six),
			       (struct audit_traffic){.counts = {.bytes_sent = 30}});
}

static void release(json_t *records[5])
{
	for (int i = 0; i < 5; i++)
		json_decref(records[i]);
}

static void test_words(void **state)
{
	static const char *const ends[] = {"from 198.51.100.2 to port 80, tcp",
					   "203.0.113.7:443, tcp (\x1b[2Jexample.org)",
					   "[2001:db8::1]:53, udp", "others"};
	static const char *const amounts[] = {"0 bytes sent, 2.0 KiB received, 2 connections",
					      "500 bytes sent, 400 bytes received, 1 connection",
					      "30 bytes sent, 0 bytes received",
					      "878.9 KiB sent, 0 bytes received"};
	const json_t **traffic;
	json_t *records[5];
	struct fixture f;
	size_t count;

	(void)state;
	make(&f, records);
	assert_int_equal(traffic_of(records, 5, &traffic, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		char *end = traffic_end(traffic[i]), *amount = traffic_amount(traffic[i]);

		assert_string_equal(end, ends[i]);
		assert_string_equal(amount, amounts[i]);
		free(end);
		free(amount);
	}
	free(traffic);
	assert_int_equal(traffic_of(records, 1, &traffic, &count), 0);
	assert_int_equal(count, 0);
	assert_null(traffic);
	release(records);
}

static void write_all(FILE *out, json_t *records[5])
{
	const struct style style = {};
	const struct page page = {.title = "t", .records = records, .count = 5};

	header_write(out, &style, records, 5);
	for (int i = 1; i < 5; i++)
		line_write(out, &style, records[i]);
	assert_int_equal(page_write(out, &page), 0);
}

static size_t times(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		count++;
	}
	return count;
}

/* In `show`, in `events` and on the page. */
static void test_everywhere(void **state)
{
	char *text = NULL;
	json_t *records[5];
	struct fixture f;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	make(&f, records);
	write_all(out, records);
	fclose(out);
	assert_int_equal(times(text, "from 198.51.100.2 to port 80, tcp: 0 bytes sent"), 3);
	assert_int_equal(times(text, "others: 878.9 KiB sent"), 3);
	assert_int_equal(times(text, "500 bytes sent, 400 bytes received, 1 connection"), 3);
	assert_null(strchr(text, '\x1b'));
	free(text);
	release(records);
}

/* More than fit are counted. */
static void test_many(void **state)
{
	const struct style style = {};
	unsigned char name[] = {4, 6, 203, 0, 113, 0, 1, 0xbb};
	json_t *records[30];
	struct fixture f;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fixture_init(&f);
	records[0] = audit_record_start(&f.execution, FIXTURE_TIME);
	for (uint8_t i = 1; i < 30; i++) {
		name[5] = i;
		records[i] = record_of(&f, name, sizeof(name),
				       (struct audit_traffic){.counts = {.bytes_sent = i}});
	}
	header_write(out, &style, records, 30);
	assert_int_equal(
		page_write(out, &(struct page){.title = "t", .records = records, .count = 30}), 0);
	fclose(out);
	assert_non_null(strstr(text, "and 21 more"));
	assert_non_null(strstr(text, "and 9 more"));
	/* The most are among the few. */
	assert_int_equal(times(text, "203.0.113.29:443"), 2);
	assert_int_equal(times(text, "203.0.113.9:443"), 0);
	free(text);
	for (int i = 0; i < 30; i++)
		json_decref(records[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_everywhere),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
