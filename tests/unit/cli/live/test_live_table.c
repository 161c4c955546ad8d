/* SPDX-License-Identifier: Apache-2.0 */
/* Live executions as a table, on terminals of 80 columns and wider. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/live/live_table.h"

#define ID "01a225c4-4d00-7abc-8def-a1b2c3d4e5f6"

static json_t *execution(const char *policy, json_int_t pid)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:{s:I, s:I}, "
			 "s:{s:I, s:I}}",
			 "id", ID, "policy", policy, "agent", "a-long-name-of-an-agent", "program",
			 "/usr/bin/python3", "pid", pid, "age_nsec", (json_int_t)125000000000,
			 "deadline_nsec", (json_int_t)86399000000000, "tasks", (json_int_t)1234,
			 "denials", (json_int_t)123456, "would_denials", (json_int_t)0, "observe",
			 0, "limits", "pids", (json_int_t)32768, "memory_bytes",
			 (json_int_t)64 << 30, "use", "memory_bytes", (json_int_t)1536 << 20,
			 "cpu_nsec", (json_int_t)3723000000000);
}

static char *table_of(unsigned int width, json_int_t pid)
{
	const struct style style = {.width = width};
	json_t *list = json_array();
	const struct live_table table = {.executions = list};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	json_array_append_new(list, execution("python-sandbox-of-ours", pid));
	json_array_append_new(list, execution("p", 0));
	assert_int_equal(live_table_write(out, &style, &table), 0);
	fclose(out);
	json_decref(list);
	return text;
}

static void assert_fits(const char *text, size_t width)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n > width)
			fail_msg("%zu columns: %.*s", n, (int)n, text);
		text += n + 1;
	}
}

static void test_narrow(void **state)
{
	char *text = table_of(80, getpid());

	(void)state;
	assert_fits(text, 80);
	for (const char *const *word =
		     (const char *const[]){"CPU", "MEM", "TASKS", "DENIED", "AGE", "LEFT", "POLICY",
					   "ID", "COMMAND", "1h02m", "1.5G", "1234", "123456",
					   "2m05s", "23h59m", "a1b2c3d4e5f6", NULL};
	     *word; word++)
		if (!strstr(text, *word))
			fail_msg("no %s in:\n%s", *word, text);
	/* Numbers come before names, and no limits. */
	assert_true(strstr(text, "DENIED") < strstr(text, "POLICY"));
	assert_true(strstr(text, "POLICY") < strstr(text, "ID "));
	assert_null(strstr(text, "32768"));
	free(text);
}

static void test_wide(void **state)
{
	char *text = table_of(160, getpid());

	(void)state;
	assert_fits(text, 160);
	assert_non_null(strstr(text, "1234/32768"));
	assert_non_null(strstr(text, "1.5G/64G"));
	assert_non_null(strstr(text, "AGENT"));
	/* The command line of the first process; without one, the program. */
	assert_non_null(strstr(text, "test_live_table"));
	assert_non_null(strstr(text, "/usr/bin/python3"));
	free(text);
}

/* For programs. */
static void test_no_terminal(void **state)
{
	char *text = table_of(0, 0);

	(void)state;
	assert_non_null(strstr(text, ID));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_no_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
