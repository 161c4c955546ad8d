/* SPDX-License-Identifier: Apache-2.0 */
/* Finds each record of a copy, in whichever segment it lies, however long its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fleet/store/host_log.h"

#define FIRST	4u
#define SECOND	100u
#define GROWING 250u
#define END	400u

static char directory[64];

/* Lines of many lengths, the one that grows with one that is torn at its end. */
static size_t length(uint64_t sequence)
{
	return sequence % 17 == 0 ? 9000 : sequence * 7 % 300;
}

static void write_segment(const char *name, unsigned int first, unsigned int end)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	for (unsigned int i = first; i < end; i++)
		fprintf(file, "{\"seq\":%u,\"x\":\"%0*d\"}\n", i, (int)length(i) + 1, 0);
	if (end == END)
		fprintf(file, "{\"seq\":%u,\"x\"", END);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/cordon-host-log-XXXXXX");
	assert_non_null(mkdtemp(directory));
	write_segment("00000000000000000004.jsonl", FIRST, SECOND);
	write_segment("00000000000000000100.jsonl", SECOND, GROWING);
	write_segment("current.jsonl", GROWING, END);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command); /* NOLINT(cert-env33-c) */
}

static void every_record(void **state)
{
	(void)state;
	for (uint64_t i = FIRST; i < END; i++) {
		uint64_t segment, offset;
		char *line, *again, head[32];
		size_t size, read;

		assert_int_equal(host_log_find(directory, i, &segment, &offset, &line, &size), 0);
		(void)snprintf(head, sizeof(head), "{\"seq\":%u,", (unsigned int)i);
		assert_memory_equal(line, head, strlen(head));
		assert_int_equal(size, strlen(line));
		assert_int_equal(line[size - 1], '\n');
		assert_int_equal(segment, i < SECOND ? FIRST : i < GROWING ? SECOND : GROWING);
		assert_int_equal(host_log_read(directory, segment, offset, &again, &read), 0);
		assert_int_equal(read, size);
		assert_string_equal(again, line);
		free(again);
		free(line);
	}
}

static void none_that_is_not_there(void **state)
{
	const uint64_t absent[] = {0, FIRST - 1, END, END + 1, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		uint64_t segment, offset;
		char *line;
		size_t size;

		assert_int_equal(host_log_find(directory, absent[i], &segment, &offset, &line,
					       &size),
				 -ENODATA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record),
		cmocka_unit_test(none_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
