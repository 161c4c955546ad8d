/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the end of a log says of one execution. */
#include "audit/storage/recall.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/storage/segment.h"
#include "audit/storage/segment_input.h"
#include "audit/storage/segments.h"
#include "base/cleanup.h"
#include "base/uuid.h"

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
	struct recall *recall = &search->recall;

	_cleanup_(recall_json_decrefp) json_t *record = NULL;
	const char *action = "", *of = "";
	json_int_t sequence = 0;

	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (json_unpack(record, "{s:{s:s},s:{s:{s:s},s?:I}}", "event", "action", &action, "cordon",
			"execution", "id", &of, "sequence", &sequence) < 0 ||
	    strcmp(of, search->id) != 0)
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

/* --- which lines have which identity ------------------------------------------------------ */

/* A line with something that looks like an identity, `"id":"` before it as records write it. */
struct mention {
	const char *id; /* so many characters: UUID_TEXT_SIZE - 1 */
	const char *line;
	size_t size;
};

/* Newest segment first. */
#define SEGMENTS_MAX 64

struct recall_window {
	char *data[SEGMENTS_MAX];
	size_t segments;
	struct mention *mentions; /* by identity, and then as they are in the log */
	size_t count, room;
};

void recall_window_free(struct recall_window *window)
{
	if (!window)
		return;
	for (size_t i = 0; i < window->segments; i++)
		free(window->data[i]);
	free(window->mentions);
	free(window);
}

static int add_mention(struct recall_window *window, const struct mention *mention)
{
	if (window->count == window->room) {
		size_t room = window->room ? 2 * window->room : 1024;
		struct mention *larger =
			reallocarray(window->mentions, room, sizeof(*window->mentions));

		if (!larger)
			return -ENOMEM;
		window->mentions = larger;
		window->room = room;
	}
	window->mentions[window->count++] = *mention;
	return 0;
}

static int note_line(struct recall_window *window, const char *line, size_t size)
{
	static const char before[] = "\"id\":\"";
	const size_t length = sizeof(before) - 1, whole = length + UUID_TEXT_SIZE;
	const char *at = line, *end = line + size;

	while ((at = memmem(at, (size_t)(end - at), before, length)) &&
	       (size_t)(end - at) >= whole) {
		struct mention mention = {at + length, line, size};
		int r = at[whole - 1] == '"' ? add_mention(window, &mention) : 0;

		if (r < 0)
			return r;
		at += length;
	}
	return 0;
}

/* What it says, and no more room than that takes. */
static const char *keep(struct recall_window *window, char *room, size_t size)
{
	char *smaller = realloc(room, size + 1);

	return window->data[window->segments++] = smaller ? smaller : room;
}

static int note_segment(struct recall_window *window, const char *directory, const char *name,
			bool compressed, size_t *looked_at)
{
	_cleanup_(freep) char *room = malloc(2 * (size_t)RECALL_WINDOW);
	char path[PATH_MAX];
	size_t size, start = 0;
	const char *data;
	int r;

	if (!room)
		return -ENOMEM;
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = read_last(path, compressed, room, &size);
	if (r < 0)
		return r;
	*looked_at += size;
	data = keep(window, TAKE_PTR(room), size);
	/* The first line may be cut; it then is no JSON. */
	while (r == 0 && start < size) {
		const char *newline = memchr(data + start, '\n', size - start);

		if (!newline)
			break;
		r = note_line(window, data + start, (size_t)(newline - data) - start);
		start = (size_t)(newline - data) + 1;
	}
	return r;
}

static int compare_mentions(const void *a, const void *b)
{
	const struct mention *first = a, *second = b;
	int order = memcmp(first->id, second->id, UUID_TEXT_SIZE - 1);

	return order ? order : (first->line > second->line) - (first->line < second->line);
}

int recall_read(const char *directory, struct recall_window **ret_window)
{
	_cleanup_(recall_window_freep) struct recall_window *window = calloc(1, sizeof(*window));
	struct segments segments;
	size_t looked_at = 0;
	int r = window ? segments_list(directory, &segments) : -ENOMEM;

	if (r < 0)
		return r;
	r = note_segment(window, directory, SEGMENT_NAME, false, &looked_at);
	for (size_t i = segments.count;
	     r == 0 && i > 0 && looked_at < RECALL_WINDOW && window->segments < SEGMENTS_MAX; i--) {
		const struct segments_entry *entry = &segments.entries[i - 1];
		char name[SEGMENTS_NAME_SIZE];

		segments_name(entry->first, entry->compressed, name);
		r = note_segment(window, directory, name, entry->compressed, &looked_at);
	}
	segments_free(&segments);
	if (r < 0)
		return r;
	if (window->count > 0)
		qsort(window->mentions, window->count, sizeof(*window->mentions), compare_mentions);
	*ret_window = TAKE_PTR(window);
	return 0;
}

/* The first that is of it, or that would come behind it. */
static size_t find_first(const struct recall_window *window, const char *id)
{
	size_t low = 0, high = window->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(window->mentions[middle].id, id, UUID_TEXT_SIZE - 1) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void recall_find(const struct recall_window *window, const char *id, recall_visitor visitor,
		 void *context, struct recall *ret_recall)
{
	struct search search = {.id = id, .visit = visitor, .context = context};
	const char *before = NULL;
	size_t i = strlen(id) < UUID_TEXT_SIZE - 1 ? window->count : find_first(window, id);

	for (; i < window->count; i++) {
		const struct mention *mention = &window->mentions[i];

		if (memcmp(mention->id, id, UUID_TEXT_SIZE - 1) != 0)
			break;
		if (mention->line != before)
			take_line(mention->line, mention->size, &search);
		before = mention->line;
	}
	*ret_recall = search.recall;
}

int recall_execution(const char *directory, const char *id, recall_visitor visitor, void *context,
		     struct recall *ret_recall)
{
	_cleanup_(recall_window_freep) struct recall_window *window = NULL;
	int r = recall_read(directory, &window);

	if (r == 0)
		recall_find(window, id, visitor, context, ret_recall);
	return r;
}
