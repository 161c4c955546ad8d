/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors an execution may begin with, and how the others are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/magic.h>

#include "base/cleanup.h"
#include "daemon/host/descriptors.h"

#define READ  CORDON_RIGHT(CORDON_READ)
#define WRITE CORDON_RIGHT(CORDON_WRITE)

/* NULL: it is granted. */
static void check(struct cordon_descriptor_record record, const char *name, const char *expected)
{
	_cleanup_(freep) char *text = NULL;
	int r;

	record.name_length = (uint32_t)strlen(name);
	text = descriptor_text(&record, name, &r);
	assert_int_equal(r, 0);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void test_files(void **state)
{
	(void)state;
	check((struct cordon_descriptor_record){.fd = 5, .rights = READ}, "/usr/lib/x", NULL);
	check((struct cordon_descriptor_record){.fd = 5, .rights = READ, .missing = READ},
	      "/etc/shadow", "5: /etc/shadow (read)");
	check((struct cordon_descriptor_record){.fd = 0, .rights = READ | WRITE, .missing = WRITE},
	      "/dev/pts/3", "0: /dev/pts/3 (read, write)");
	check((struct cordon_descriptor_record){.fd = 7,
						.kind = CORDON_DESCRIPTOR_MEMORY,
						.rights = READ | WRITE},
	      "memfd:x", "7: memfd:x (read, write)");
}

static void test_streams(void **state)
{
	struct cordon_descriptor_record record = {
		.fd = 3, .kind = CORDON_DESCRIPTOR_STREAM, .rights = READ | WRITE};

	(void)state;
	record.magic = PIPEFS_MAGIC;
	check(record, "", NULL);
	record.magic = SOCKFS_MAGIC;
	check(record, "", "3: socket");
	record.magic = ANON_INODE_FS_MAGIC;
	check(record, "[eventfd]", NULL);
	check(record, "[eventpoll]", NULL);
	check(record, "[io_uring]", "3: [io_uring] (read, write)");
	check(record, "bpf-map", "3: bpf-map (read, write)");
	check(record, "[event", "3: [event (read, write)");
}

static void test_other(void **state)
{
	(void)state;
	check((struct cordon_descriptor_record){.fd = 9, .kind = CORDON_DESCRIPTOR_OTHER}, "",
	      "9: an object of the kernel");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
