// SPDX-License-Identifier: Apache-2.0
/* What stands above an execution's story, and beside it on the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "insight/page/page.h"
#include "insight/story/header.h"
#include "tests/unit/audit/fixture.h"

/* Who started it, by which command, under which limits: in `show` and on the page. */
static void test_origin(void **state)
{
	struct audit_starter starters[AUDIT_STARTERS_MAX] = {
		{.pid = 7,
		 .name = (char[]){"agent"},
		 .program = (char[]){"/opt/agent"},
		 .have_arguments = true,
		 .arguments_digest = {0xab, 0xcd}},
		{.pid = 1, .name = (char[]){"<init>"}},
	};
	const struct style style = {};
	struct fixture f;
	json_t *record;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fixture_init(&f);
	f.execution.have_login = true;
	f.execution.login_uid = 1234;
	f.execution.starters = starters;
	f.execution.starter_count = 2;
	f.execution.limits.open_files = 99;
	f.execution.limits.cpu_percent = 150;
	record = audit_record_start(&f.execution, FIXTURE_TIME);
	header_write(out, &style, &record, 1);
	assert_int_equal(
		page_write(out, &(struct page){.title = "t", .records = &record, .count = 1}), 0);
	fclose(out);
	assert_non_null(strstr(text, "logged in as 1234"));
	assert_non_null(strstr(text, "/opt/agent[7], <init>[1]"));
	assert_non_null(strstr(text, "user 1234</dd>"));
	assert_non_null(strstr(text, "/opt/agent</code>, process 7 since "));
	assert_non_null(strstr(text, "SHA-256 of its arguments abcd00"));
	assert_non_null(strstr(text, "&lt;init&gt;</code>, process 1"));
	assert_non_null(strstr(text, "150% CPU"));
	assert_non_null(strstr(text, "99 open files</dd>"));
	free(text);
	json_decref(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
