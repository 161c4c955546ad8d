/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are all records of logs as docs/audit.schema.json says?   check SCHEMA DIRECTORY...
 *
 * Says what is wrong with the first few records, and how many there were of which action.
 */
#include "tests/schema/segments.h"
#include "tests/unit/audit/schema_check.h"

#define SHOWN	    5
#define ACTIONS_MAX 64

static json_t *schema;
static unsigned long records, wrong;
static struct {
	char name[40];
	unsigned long count;
} actions[ACTIONS_MAX];

static void count_action(const json_t *record)
{
	const char *name =
		json_string_value(json_object_get(json_object_get(record, "event"), "action"));
	size_t i = 0;

	if (!name)
		return;
	while (i < ACTIONS_MAX - 1 && actions[i].count && strcmp(actions[i].name, name) != 0)
		i++;
	snprintf(actions[i].name, sizeof(actions[i].name), "%s", name);
	actions[i].count++;
}

static void check_line(const char *file, const char *line, size_t size)
{
	struct schema_check check = {.root = schema};
	json_t *record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);

	records++;
	count_action(record);
	if (!record)
		snprintf(check.error, sizeof(check.error), "no JSON");
	if ((!record || !schema_valid(&check, schema, record, "record")) && wrong++ < SHOWN)
		printf("%s: %s\n  %.*s\n", file, check.error, (int)(size < 2000 ? size : 2000),
		       line);
	json_decref(record);
}

int main(int argc, char **argv)
{
	json_error_t error;
	int status = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: check SCHEMA DIRECTORY...\n");
		return 2;
	}
	schema = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
	if (!schema) {
		fprintf(stderr, "%s: line %d: %s\n", argv[1], error.line, error.text);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		if (segments_read(argv[i], check_line) < 0)
			status = 2;
	printf("%lu records, %lu wrong:", records, wrong);
	for (size_t i = 0; i < ACTIONS_MAX && actions[i].count; i++)
		printf(" %s %lu", actions[i].name, actions[i].count);
	putchar('\n');
	json_decref(schema);
	return status ? status : wrong > 0;
}
