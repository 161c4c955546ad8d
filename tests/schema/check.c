/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are all records of logs as docs/audit.schema.json says?   check SCHEMA DIRECTORY...
 *
 * Reads every segment, plain and compressed; a last line without its end is being written. Says what is wrong with
 * the first few records, and how many there were of which action.
 */
#include <dirent.h>
#include <stdio.h>
#include <zlib.h>

#include "audit/storage/chain.h"
#include "base/cleanup.h"
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

static void check_file(const char *path)
{
	_cleanup_(freep) char *line = malloc(CHAIN_LINE_MAX + 1);
	gzFile file = gzopen(path, "rb");

	while (line && file && gzgets(file, line, CHAIN_LINE_MAX)) {
		size_t size = strlen(line);

		if (line[size - 1] == '\n')
			check_line(path, line, size - 1);
	}
	if (file)
		gzclose(file);
}

static int check_directory(const char *directory)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	const struct dirent *entry;

	if (!dir) {
		printf("%s: %m\n", directory);
		return -1;
	}
	while ((entry = readdir(dir))) {
		char path[4096];

		if (!strstr(entry->d_name, ".jsonl"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		check_file(path);
	}
	return 0;
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
		if (check_directory(argv[i]) < 0)
			status = 2;
	printf("%lu records, %lu wrong:", records, wrong);
	for (size_t i = 0; i < ACTIONS_MAX && actions[i].count; i++)
		printf(" %s %lu", actions[i].name, actions[i].count);
	putchar('\n');
	json_decref(schema);
	return status ? status : wrong > 0;
}
