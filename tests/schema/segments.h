/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every line of the logs in a directory, of plain and compressed segments; a last line without its
 * end is being written.
 */
#ifndef CORDON_TESTS_SCHEMA_SEGMENTS_H
#define CORDON_TESTS_SCHEMA_SEGMENTS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "audit/storage/chain.h"
#include "base/cleanup.h"

typedef void (*segment_line_fn)(const char *file, const char *line, size_t size);

static void segment_read(const char *path, segment_line_fn take)
{
	_cleanup_(freep) char *line = malloc(CHAIN_LINE_MAX + 1);
	gzFile file = gzopen(path, "rb");

	while (line && file && gzgets(file, line, CHAIN_LINE_MAX)) {
		size_t size = strlen(line);

		if (line[size - 1] == '\n')
			take(path, line, size - 1);
	}
	if (file)
		gzclose(file);
}

/* -1: the directory cannot be read, which was printed. */
static int segments_read(const char *directory, segment_line_fn take)
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
		segment_read(path, take);
	}
	return 0;
}

#endif
