/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/storage/recall.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/storage/segment.h"
#include "audit/storage/segment_input.h"
#include "audit/storage/segments.h"
#include "base/cleanup.h"

DEFINE_CLEANUP(json_t *, json_decref, recall_json_decrefp)

/* What is looked for, and what was found of it. */
struct search {
	const char *id;
	recall_visitor visit;
	void *context;
	struct recall recall;
};

static void visit(const struct search *search, uint64_t first, uint64_t last)
{
	if (search->visit && first <= last)
		search->visit(first, last, search->context);
}

static void take_gap(json_t *record, const struct search *search)
{
	json_int_t after, before;
	const char *of;

	if (json_unpack(record, "{s:{s:{s:s,s:I,s:I}}}", "cordon", "gap", "of", &of, "after",
			&after, "before", &before) == 0 &&
	    strcmp(of, "events") == 0 && after >= 0 && before > 0)
		visit(search, (uint64_t)after + 1, (uint64_t)before - 1);
}

/* One line, without its end; one that is no record says nothing. */
static void take_line(const char *line, size_t size, struct search *search)
{
	const char *id = search->id;
	struct recall *recall = &search->recall;

	_cleanup_(recall_json_decrefp) json_t *record = NULL;
	const char *action = "", *of = "";
	json_int_t sequence = 0;

	/* Most lines are of others. */
	if (!memmem(line, size, id, strlen(id)))
		return;
	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (json_unpack(record, "{s:{s:s},s:{s:{s:s},s?:I}}", "event", "action", &action, "cordon",
			"execution", "id", &of, "sequence", &sequence) < 0 ||
	    strcmp(of, id) != 0)
		return;
	recall->started |= strcmp(action, "execution-start") == 0;
	recall->ended |= strcmp(action, "execution-end") == 0;
	if (strcmp(action, "gap") == 0)
		take_gap(record, search);
	if (sequence > 0)
		visit(search, (uint64_t)sequence, (uint64_t)sequence);
	if (sequence > 0 && (uint64_t)sequence > recall->last_sequence)
		recall->last_sequence = (uint64_t)sequence;
}

/* The last bytes of a segment, at most RECALL_WINDOW. *ret_size: how many. */
static int read_last(const char *path, bool compressed, char *data, size_t *ret_size)
{
	_cleanup_(segment_input_closep) struct segment_input *input = NULL;
	struct stat file = {};
	size_t size = 0;
	ssize_t n;
	int r = segment_input_open(path, compressed, &input);

	if (r == 0)
		r = segment_input_stat(input, &file);
	if (r < 0)
		return r;
	if (!compressed && file.st_size > (off_t)RECALL_WINDOW)
		segment_input_rewind(input, (uint64_t)file.st_size - RECALL_WINDOW);
	for (;;) {
		if (size == 2 * (size_t)RECALL_WINDOW) {
			memcpy(data, data + RECALL_WINDOW, RECALL_WINDOW);
			size = RECALL_WINDOW;
		}
		n = segment_input_read(input, data + size, 2 * (size_t)RECALL_WINDOW - size);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		size += (size_t)n;
	}
	if (size > RECALL_WINDOW) {
		memmove(data, data + size - RECALL_WINDOW, RECALL_WINDOW);
		size = RECALL_WINDOW;
	}
	*ret_size = size;
	return 0;
}

static int take_segment(const char *directory, const char *name, bool compressed,
			struct search *search, size_t *looked_at)
{
	_cleanup_(freep) char *data = malloc(2 * (size_t)RECALL_WINDOW);
	char path[PATH_MAX];
	size_t size, start = 0;
	int r;

	if (!data)
		return -ENOMEM;
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = read_last(path, compressed, data, &size);
	if (r < 0)
		return r;
	*looked_at += size;
	/* The first line may be cut; it then is no JSON. */
	while (start < size) {
		const char *newline = memchr(data + start, '\n', size - start);

		if (!newline)
			break;
		take_line(data + start, (size_t)(newline - data) - start, search);
		start = (size_t)(newline - data) + 1;
	}
	return 0;
}

int recall_execution(const char *directory, const char *id, recall_visitor visitor, void *context,
		     struct recall *ret_recall)
{
	struct search search = {.id = id, .visit = visitor, .context = context};
	struct segments segments;
	size_t looked_at = 0;
	int r = segments_list(directory, &segments);

	if (r < 0)
		return r;
	r = take_segment(directory, SEGMENT_NAME, false, &search, &looked_at);
	for (size_t i = segments.count; r == 0 && i > 0 && looked_at < RECALL_WINDOW; i--) {
		const struct segments_entry *entry = &segments.entries[i - 1];
		char name[SEGMENTS_NAME_SIZE];

		segments_name(entry->first, entry->compressed, name);
		r = take_segment(directory, name, entry->compressed, &search, &looked_at);
	}
	segments_free(&segments);
	if (r == 0)
		*ret_recall = search.recall;
	return r;
}
