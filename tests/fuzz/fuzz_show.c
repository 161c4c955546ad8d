/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a foreign log, as pages, stories, exports and recordings show them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "insight/export/export.h"
#include "insight/export/private_record.h"
#include "insight/page/page.h"
#include "insight/recording/recording.h"
#include "insight/story/line.h"
#include "insight/story/story.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS_MAX 32

static const struct style style = {.width = 80};
static const struct export_source source = {"host", "0"};
static FILE *nowhere;

static void export_flat(const struct flat_record *flat)
{
	struct buffer out = {};

	export_ecs(&out, flat, &source);
	out.size = 0;
	export_ocsf(&out, flat, &source);
	buffer_free(&out);
}

static void show_line(const char *line, size_t length)
{
	struct buffer out = {};
	struct flat_record flat;

	if (flat_record_read(&flat, line, length))
		export_flat(&flat);
	(void)export_csv_line(nowhere, &out, line, length);
	buffer_free(&out);
}

static void show_record(json_t *record, struct recording *recording)
{
	static const struct private_key key = {{1, 2, 3}};
	json_t *copy = json_deep_copy(record), *places = private_places(record);
	struct buffer text = {};
	struct flat_record flat;

	if (flat_record_of(&flat, &text, record) == 0)
		export_flat(&flat);
	export_csv(nowhere, record);
	line_write(nowhere, &style, record);
	(void)private_record(&key, places, copy);
	if (recording)
		(void)recording_add(recording, record);
	buffer_free(&text);
	json_decref(places);
	json_decref(copy);
}

static void show_all(json_t **records, size_t count)
{
	struct page page = {
		.title = "t",
		.directory = "/d",
		.version = "0",
		.time = 1,
		.records = records,
		.count = count,
	};

	(void)story_write(nowhere, &style, records, count);
	(void)page_write(nowhere, &page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct recording *recording = recording_new();
	json_t *records[RECORDS_MAX];
	size_t count = 0;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		abort();
	while (at < end && count < RECORDS_MAX) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);
		json_t *record = json_loadb(at, length, 0, NULL);
		char *line = malloc(length + 1);

		if (!line)
			abort();
		memcpy(line, at, length);
		line[length] = '\0';
		show_line(line, length);
		free(line);
		if (json_is_object(record)) {
			show_record(record, recording);
			records[count++] = record;
		} else {
			json_decref(record);
		}
		at = stop ? stop + 1 : end;
	}
	show_all(records, count);
	recording_free(recording);
	while (count > 0)
		json_decref(records[--count]);
	return 0;
}
