/* SPDX-License-Identifier: Apache-2.0 */
/* What messages claim: subjects, headers, encodings, and names of classes of paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "fleet/store/delivery.h"
#include "fleet/store/row.h"

static void subjects(void **state)
{
	static const char *const bad[] = {
		"",
		"cordon",
		"cordon.log.",
		"cordon.log.ab12.01a2-3.",
		"cordon.log.ab12.01a2-3.other",
		"cordon.log.ab12.01a2-3.bulk.more",
		"cordon.log..01a2-3.bulk",
		"cordon.log.ab12..bulk",
		"cordon.log.AB12.01a2-3.bulk",
		"cordon.log.ab12/..01a2-3.bulk",
		"cordon.log.ab12.-1.bulk",
		"cordon.log.ab-2.01a2-3.bulk",
		"other.log.ab12.01a2-3.bulk",
		"cordon.log.0123456789012345678901234567890123456789012345678901234567890123456789.1.bulk",
	};
	struct delivery delivery = {};

	(void)state;
	assert_int_equal(delivery_read_subject("cordon.log.ab12.01a2-3.first", &delivery, NULL), 0);
	assert_string_equal(delivery.host, "ab12");
	assert_string_equal(delivery.log, "01a2-3");
	assert_true(delivery.first_lane);
	assert_int_equal(delivery_read_subject("cordon.log.ab12.01a2-3.bulk", &delivery, NULL), 0);
	assert_false(delivery.first_lane);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(delivery_read_subject(bad[i], &delivery, NULL), -EINVAL);
	assert_true(delivery_id_is_valid("ab12"));
	assert_false(delivery_id_is_valid(".."));
	assert_false(delivery_id_is_valid("-"));
	assert_false(delivery_id_is_valid(""));
}

static void headers(void **state)
{
	static const char *const bad[] = {
		"", "1", "0-3", "4-3", "1-2-3", "-1-2", "1- 2", "x-y", "1-99999999999999999999999"};
	struct delivery delivery = {};

	(void)state;
	assert_int_equal(delivery_read_subject("cordon.log.ab12.01a2-3.bulk", &delivery, NULL), 0);
	assert_int_equal(delivery_read_headers(&delivery, NULL, NULL, NULL, NULL), 0);
	assert_int_equal(delivery.first, 0);
	assert_int_equal(delivery_read_headers(&delivery, "ab12", "01a2-3", "7-9", NULL), 0);
	assert_int_equal(delivery.first, 7);
	assert_int_equal(delivery.last, 9);
	assert_int_equal(delivery_read_headers(&delivery, "ab13", "01a2-3", "7-9", NULL), -EBADMSG);
	assert_int_equal(delivery_read_headers(&delivery, "ab12", "01a2-4", "7-9", NULL), -EBADMSG);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(delivery_read_headers(&delivery, NULL, NULL, bad[i], NULL),
				 -EBADMSG);
}

static size_t pack(const void *data, size_t size, unsigned char *packed, size_t capacity)
{
	z_stream stream = {.next_in = (unsigned char *)data,
			   .avail_in = (unsigned int)size,
			   .next_out = packed,
			   .avail_out = (unsigned int)capacity};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return capacity - stream.avail_out;
}

static void encodings(void **state)
{
	static unsigned char zeros[8u << 20], packed[64u << 10];
	struct buffer text;
	size_t size;

	(void)state;
	size = pack("{}\n", 3, packed, sizeof(packed));
	assert_int_equal(delivery_inflate(packed, size, &text), 0);
	assert_int_equal(text.size, 3);
	assert_memory_equal(text.data, "{}\n", 3);
	buffer_free(&text);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(delivery_inflate(packed, cut, &text), -EBADMSG);
	packed[size] = 0;
	assert_int_equal(delivery_inflate(packed, size + 1, &text), -EBADMSG);
	assert_int_equal(delivery_inflate("{}\n", 3, &text), -EBADMSG);
	/* A few KiB that become more than anybody sends. */
	size = pack(zeros, sizeof(zeros), packed, sizeof(packed));
	assert_int_equal(delivery_inflate(packed, size, &text), -EFBIG);
}

static void templates(void **state)
{
	static const char *const pairs[][2] = {
		{"/etc/shadow", "/etc/shadow"},
		{"/", "/"},
		{"", ""},
		{"/home/alice/notes.txt", "/home/*/notes.txt"},
		{"/home/bob", "/home/*"},
		{"/proc/4711/environ", "/proc/#/environ"},
		{"/tmp/cordon-01a2013c-58d6/x", "/tmp/cordon-#a#c-#d#/x"},
		{"/tmp/01a2013c-58d6-7f6f", "/tmp/*"},
		{"/usr/lib/python3.11/site/a/b.py", "/usr/lib/python#.#/**/*.py"},
		{"/srv/a/b/c", "/srv/a/b/c"},
		{"/srv/a/b/c/d", "/srv/a/b/**/*"},
		{"/srv/a/b/c/.hidden", "/srv/a/b/**/*"},
		{"/srv/a/b/c/x.averylongending", "/srv/a/b/**/*"},
	};
	char template[ROW_TEXT_SIZE], path[8192];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		row_path_template(pairs[i][0], template);
		assert_string_equal(template, pairs[i][1]);
	}
	memset(path, 'g', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	row_path_template(path, template);
	assert_string_equal(template, "*");
	memset(path, '/', sizeof(path) - 1);
	row_path_template(path, template);
	assert_true(strlen(template) < ROW_TEXT_SIZE);
}

static void policy_subjects(void **state)
{
	static const char *const wrong[] = {
		"cordon.policy",
		"cordon.policy.ab12",
		"cordon.policy.ab12.01a2013c",
		"cordon.policy..01a2.43",
		"cordon.policy.ab-12.01a2.43",
		"cordon.policy.ab12.-1a2.43",
		"cordon.log.ab12.01a2.43",
	};
	struct delivery delivery = {};
	struct failure failure = {};
	const char *digest = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(delivery_read_policy_subject(wrong[i], &delivery, &digest,
							      &failure),
				 -EINVAL);
	assert_null(digest);
	assert_int_equal(delivery_read_policy_subject("cordon.policy.ab12.01a2-13c.4321", &delivery,
						      &digest, &failure),
			 0);
	assert_string_equal(delivery.host, "ab12");
	assert_string_equal(delivery.log, "01a2-13c");
	assert_string_equal(digest, "4321");
}

/* What a host could say of lines without chain values. */
static void chains(void **state)
{
	static const char text[] = "{\"seq\":1,\"a\":1}\n";
	char header[200], large[64];
	struct buffer lines = {};
	struct failure failure = {};

	(void)state;
	assert_int_equal(delivery_chain("", text, strlen(text), &lines, &failure), -EBADMSG);
	assert_non_null(strstr(failure.text, "Cordon-Chain is not"));
	snprintf(header, sizeof(header), "%064d-%064d", 0, 0);
	failure = (struct failure){};
	assert_int_equal(delivery_chain(header, text, strlen(text), &lines, &failure), -EBADMSG);
	assert_non_null(strstr(failure.text, "do not lead to"));
	assert_int_equal(delivery_chain(header, "\n", 1, &lines, &failure), -EBADMSG);
	assert_int_equal(delivery_chain(header, "x}", 2, &lines, &failure), -EBADMSG);
	/* No line at all leads from a value to itself. */
	assert_int_equal(delivery_chain(header, "", 0, &lines, &failure), 0);
	assert_int_equal(lines.size, 0);
	/* Lines that become longer than a message may be. */
	for (unsigned int i = 1; i < 60000; i++) {
		snprintf(large, sizeof(large), "{\"seq\":%u,}\n", i);
		buffer_string(&lines, large);
	}
	assert_false(lines.failed);
	failure = (struct failure){};
	assert_int_equal(delivery_chain(header, lines.data, lines.size, &lines, &failure),
			 -EBADMSG);
	assert_non_null(strstr(failure.text, "4 MiB"));
	buffer_free(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subjects),	   cmocka_unit_test(headers),
		cmocka_unit_test(encodings),	   cmocka_unit_test(templates),
		cmocka_unit_test(policy_subjects), cmocka_unit_test(chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
