/* SPDX-License-Identifier: Apache-2.0 */
/* Finds records by the index where there is one, else by reading all of the log. */
#include "audit/search/search.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/read/archive.h"
#include "audit/read/damage.h"
#include "audit/search/candidates.h"
#include "audit/storage/chain.h"
#include "audit/search/index.h"

DEFINE_CLEANUP(json_t *, json_decref, search_json_decrefp)

#define READ_SIZE (1u << 20)
/* Read at a time where only the last records are looked for. */
#define TAIL_SIZE (1u << 16)

struct search {
	struct audit_archive *archive;
	const struct audit_query *query;
	const struct search_options *options;
	bool all; /* records are wanted */
	struct sha256 *hash;
	int (*visit)(void *data, json_t *record);
	void *data;
	json_t *kept; /* with a limit: what was found in the stretch at hand */
	struct search_result result;
	struct window {
		size_t segment;
		uint64_t offset;
		char *data;
		size_t size, capacity;
		bool ends; /* there is nothing behind it */
	} window;	   /* where a place of the index was last looked at */
	char *stretch;	   /* READ_SIZE and the longest line */
	uint64_t done, all_bytes;
};

/* What a place of the index counts for, whose record is somewhere in the log. */
#define PLACE_SIZE 1024u
/* Read for a place by itself, and for one that is near the last. */
#define PLACE_READ  4096u
#define PLACES_READ (1u << 16)

static void count_read(struct search *s, uint64_t bytes)
{
	s->done += bytes;
	if (s->options->progress)
		s->options->progress(s->options->progress_data, s->done, s->all_bytes);
}

/*
 * Does the line follow from the one before it? For the first of a segment that one is elsewhere:
 * such a line is only checked for being one. `before`: bytes that are known to stand before the
 * line.
 */
static int check_chain(struct search *s, size_t segment, uint64_t offset, const char *line,
		       size_t size, size_t before)
{
	unsigned char previous[SHA256_SIZE], claimed[SHA256_SIZE], computed[SHA256_SIZE];
	char tail[CHAIN_TAIL_SIZE];
	uint64_t sequence;
	size_t body, n;
	int r;

	r = chain_split(line, size, &body, &sequence, claimed);
	if (r < 0 || offset == 0)
		return r;
	if (offset < sizeof(tail))
		return -EBADMSG;
	if (before >= sizeof(tail)) {
		memcpy(tail, line - sizeof(tail), sizeof(tail));
		n = sizeof(tail);
	} else {
		r = audit_archive_read(s->archive, segment, offset - sizeof(tail), tail,
				       sizeof(tail), &n);
		if (r < 0)
			return r;
	}
	if (n < sizeof(tail) || chain_read_tail(tail, previous) < 0)
		return -EBADMSG;
	r = chain_digest(s->hash, previous, line, body, computed);
	if (r < 0)
		return r;
	return memcmp(claimed, computed, sizeof(claimed)) == 0 ? 0 : -EBADMSG;
}

static int hand_out(struct search *s, json_t *record)
{
	s->result.found++;
	if (!s->kept)
		return s->visit(s->data, record);
	if (json_array_size(s->kept) >= s->options->limit)
		json_array_remove(s->kept, 0);
	return json_array_append(s->kept, record) < 0 ? -ENOMEM : 0;
}

static bool has_action(const json_t *record, const char *action)
{
	const char *found =
		json_string_value(json_object_get(json_object_get(record, "event"), "action"));

	return found && strcmp(found, action) == 0;
}

/* One line; check_chain() says what `before` is. */
static int take_line(struct search *s, size_t segment, uint64_t offset, const char *line,
		     size_t size, size_t before)
{
	_cleanup_(search_json_decrefp) json_t *record = NULL;
	enum query_answer answer = s->all ? QUERY_YES : audit_query_ask_line(s->query, line, size);
	bool checked = answer == QUERY_YES && s->options->visit_line && !s->kept &&
		       !s->options->but_action;
	int r = 0;

	if (answer == QUERY_NO)
		return 0;
	if (checked) {
		r = check_chain(s, segment, offset, line, size, before);
		if (r == 0 && s->options->visit_line(s->data, line, size)) {
			s->result.found++;
			return 0;
		}
	}
	record = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(record) || !audit_query_matches(s->query, record))
		return 0;
	if (!checked)
		r = check_chain(s, segment, offset, line, size, before);
	if (r == -EBADMSG) {
		s->result.damaged++;
		r = damage_mark(record, "it does not follow from the line before it");
	} else if (r == 0 && s->options->but_action && has_action(record, s->options->but_action)) {
		return 0;
	} else if (r == 0 && !checked && s->options->visit_line && !s->kept &&
		   s->options->visit_line(s->data, line, size)) {
		s->result.found++;
		return 0;
	}
	return r < 0 ? r : hand_out(s, record);
}

static int read_window(struct search *s, size_t segment, uint64_t offset, size_t wanted)
{
	struct window *w = &s->window;
	int r;

	if (wanted > w->capacity) {
		char *data = realloc(w->data, wanted);

		if (!data)
			return -ENOMEM;
		w->data = data;
		w->capacity = wanted;
	}
	r = audit_archive_read(s->archive, segment, offset, w->data, wanted, &w->size);
	if (r < 0) {
		w->size = 0;
		return r;
	}
	w->segment = segment;
	w->offset = offset;
	w->ends = w->size < wanted;
	return 0;
}

/*
 * The line `before` bytes behind an offset, with those bytes before it; borrowed until the next is
 * looked at. -ENODATA: there is none; -EMSGSIZE: it is longer than lines are.
 */
static int line_in_window(struct search *s, size_t segment, uint64_t offset, size_t before,
			  const char **ret_line, size_t *ret_size)
{
	struct window *w = &s->window;
	bool is_near = w->size > 0 && w->segment == segment && offset >= w->offset &&
		       offset - w->offset < w->size + PLACES_READ;
	bool fresh = false;

	for (size_t wanted = is_near ? PLACES_READ : PLACE_READ;;) {
		size_t at = is_near || fresh ? (size_t)(offset - w->offset) + before : 0;
		int r;

		if ((is_near || fresh) && at < w->size) {
			const char *line = w->data + at;
			const char *newline = memchr(line, '\n', w->size - at);

			if (newline) {
				*ret_line = line;
				*ret_size = (size_t)(newline - line);
				return 0;
			}
			if (w->size - at > CHAIN_LINE_MAX)
				return -EMSGSIZE;
		}
		if (fresh && w->ends)
			return -ENODATA;
		r = read_window(s, segment, offset, wanted);
		if (r < 0)
			return r;
		fresh = true;
		wanted *= 4;
	}
}

/* Where there is no line where there was one when it came into the index, the log was changed. */
static int take_place(struct search *s, const struct candidate *c)
{
	size_t before = c->offset < CHAIN_TAIL_SIZE ? (size_t)c->offset : CHAIN_TAIL_SIZE, size;
	const char *line;
	int r;

	count_read(s, PLACE_SIZE);
	r = line_in_window(s, c->segment, c->offset - before, before, &line, &size);
	if (r == -ENODATA || r == -EMSGSIZE || (r == 0 && before > 0 && line[-1] != '\n')) {
		s->result.lost++;
		return 0;
	}
	if (r < 0)
		return r;
	s->result.looked_at++;
	return take_line(s, c->segment, c->offset, line, size, before);
}

/* The whole lines of what was read; *ret_taken: their size. */
static int take_lines(struct search *s, size_t segment, uint64_t offset, const char *data,
		      size_t size, size_t *ret_taken)
{
	size_t at = 0;
	int r;

	while (at < size) {
		const char *newline = memchr(data + at, '\n', size - at);
		size_t length;

		if (!newline)
			break;
		length = (size_t)(newline - data) - at;
		s->result.looked_at++;
		r = take_line(s, segment, offset + at, data + at, length, at);
		if (r < 0)
			return r;
		at += length + 1;
	}
	*ret_taken = at;
	return 0;
}

static int take_stretch(struct search *s, const struct candidate *c)
{
	uint64_t offset = c->offset, end = c->offset + c->size;
	const size_t capacity = READ_SIZE + CHAIN_LINE_MAX;

	while (offset < end) {
		size_t wanted = end - offset < capacity ? (size_t)(end - offset) : capacity;
		size_t n, taken;
		int r = audit_archive_read(s->archive, c->segment, offset, s->stretch, wanted, &n);

		if (r < 0)
			return r;
		r = take_lines(s, c->segment, offset, s->stretch, n, &taken);
		if (r < 0)
			return r;
		if (taken == 0)
			break;
		offset += taken;
		count_read(s, taken);
	}
	return 0;
}

static int take(struct search *s, const struct candidate *c)
{
	return c->size > 0 ? take_stretch(s, c) : take_place(s, c);
}

/*
 * Where the last lines of a stretch begin, of which it cuts off about as much as is read at a time.
 */
static int cut_tail(struct search *s, struct candidate *stretch, struct candidate *ret_tail)
{
	uint64_t end = stretch->offset + stretch->size, begin = end;
	const char *newline = NULL;
	size_t n;

	do {
		begin = begin - stretch->offset > TAIL_SIZE ? begin - TAIL_SIZE : stretch->offset;
		if (begin > stretch->offset) {
			int r = audit_archive_read(s->archive, stretch->segment, begin, s->stretch,
						   TAIL_SIZE, &n);

			if (r < 0)
				return r;
			newline = memchr(s->stretch, '\n', n);
			/* The end of the last line, which is longer than what was read. */
			if (newline && begin + (uint64_t)(newline + 1 - s->stretch) >= end)
				newline = NULL;
		}
	} while (begin > stretch->offset && !newline);
	if (begin > stretch->offset)
		begin += (uint64_t)(newline + 1 - s->stretch);
	*ret_tail = (struct candidate){stretch->segment, begin, end - begin};
	stretch->size = begin - stretch->offset;
	return 0;
}

/* Takes a candidate's matches into `found`, the last one first. */
static int take_backwards(struct search *s, const struct candidate *c, json_t *found)
{
	int r;

	s->kept = json_array();
	r = s->kept ? take(s, c) : -ENOMEM;
	for (size_t j = json_array_size(s->kept);
	     r == 0 && j-- > 0 && json_array_size(found) < s->options->limit;)
		r = json_array_append(found, json_array_get(s->kept, j)) < 0 ? -ENOMEM : 0;
	json_decref(s->kept);
	s->kept = NULL;
	return r;
}

/* From the end, until enough is found; handed out in the log's order. */
static int take_last(struct search *s, const struct candidates *candidates)
{
	_cleanup_(search_json_decrefp) json_t *found = json_array();
	size_t count;
	int r = found ? 0 : -ENOMEM;

	for (size_t i = candidates->count; r == 0 && i-- > 0;) {
		struct candidate rest = candidates->items[i], tail;
		bool line = rest.size == 0;

		while (r == 0 && (line || rest.size > 0) &&
		       json_array_size(found) < s->options->limit) {
			tail = rest;
			r = line ? 0 : cut_tail(s, &rest, &tail);
			if (r == 0)
				r = take_backwards(s, &tail, found);
			line = false;
		}
		if (json_array_size(found) >= s->options->limit)
			break;
	}
	count = json_array_size(found);
	s->result.found = count;
	for (size_t i = count; r == 0 && i-- > 0;)
		r = s->visit(s->data, json_array_get(found, i));
	return r;
}

/* What the index knows, and behind it what it does not. */
static int join(struct search *s, const struct candidates *known, const uint64_t *indexed,
		struct candidates *ret)
{
	size_t segments = audit_archive_count(s->archive), made = 0, next = 0;
	struct candidate *items = calloc(known->count + segments + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < segments; i++) {
		uint64_t size = audit_archive_size(s->archive, i);

		while (next < known->count && known->items[next].segment == i)
			items[made++] = known->items[next++];
		if (size > indexed[i])
			items[made++] = (struct candidate){
				.segment = (uint32_t)i,
				.offset = indexed[i],
				.size = size - indexed[i],
			};
	}
	ret->items = items;
	ret->count = made;
	return 0;
}

/* Asks the index. Whatever is wrong with it, the log is there: then nothing of it is used. */
static void ask_index(struct search *s, const char *directory, uint64_t *indexed,
		      struct candidates *known)
{
	_cleanup_(index_file_closep) struct index_file *file = NULL;
	size_t segments = audit_archive_count(s->archive);
	_cleanup_(freep) int64_t *numbers = calloc(segments + 1, sizeof(*numbers));
	struct failure failure;
	char path[PATH_MAX];
	int r = 0;

	if (!numbers ||
	    snprintf(path, sizeof(path), "%s/%s", directory, INDEX_NAME) >= (int)sizeof(path))
		return;
	r = index_file_open(path, INDEX_READ, &file, &failure);
	if (r < 0) {
		s->result.stale = r == -EBADMSG;
		return;
	}
	for (size_t i = 0; i < segments; i++) {
		struct index_segment segment = {0};

		r = index_locate(file, s->archive, i, &segment);
		if (r == -ENOENT || r == -ENODATA)
			continue;
		if (r < 0)
			break;
		numbers[i] = segment.id;
		indexed[i] = segment.indexed;
	}
	if (r == 0 || r == -ENOENT || r == -ENODATA)
		r = candidates_find(file, s->query, numbers, segments, known);
	s->result.used_index = r == 0;
	s->result.stale = r < 0;
	if (r < 0)
		memset(indexed, 0, segments * sizeof(*indexed));
}

/* The seq of the line at the head of a stretch; 0: it has none. */
static uint64_t head_of(struct search *s, const struct candidate *c)
{
	char head[64];
	uint64_t sequence;
	size_t n;

	if (audit_archive_read(s->archive, c->segment, c->offset, head, sizeof(head), &n) < 0 ||
	    chain_sequence(head, n, &sequence) < 0)
		return 0;
	return sequence;
}

/* Leaves of the stretches the one that holds a seq, as they begin with ascending ones. */
static void narrow_to_sequence(struct search *s, struct candidates *all)
{
	size_t low = 0, high = all->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t head = head_of(s, &all->items[middle]);

		/* Not as it should be: then all is looked at. */
		if (head == 0)
			return;
		if (head <= s->query->sequence)
			low = middle;
		else
			high = middle;
	}
	if (all->count == 0)
		return;
	all->items[0] = all->items[low];
	all->count = 1;
}

static int search_once(struct search *s, const char *directory, bool use_index)
{
	size_t segments = audit_archive_count(s->archive);
	_cleanup_(freep) uint64_t *indexed = calloc(segments + 1, sizeof(*indexed));
	_cleanup_(candidates_release) struct candidates known = {0}, all = {0};
	int r;

	if (!indexed)
		return -ENOMEM;
	if (use_index)
		ask_index(s, directory, indexed, &known);
	r = join(s, &known, indexed, &all);
	if (r < 0)
		return r;
	if (s->query->sequence)
		narrow_to_sequence(s, &all);
	for (size_t i = 0; i < all.count; i++)
		s->all_bytes += all.items[i].size ? all.items[i].size : PLACE_SIZE;
	if (s->options->limit > 0)
		return take_last(s, &all);
	for (size_t i = 0; r == 0 && i < all.count; i++)
		r = take(s, &all.items[i]);
	return r;
}

int audit_search(const char *directory, const struct audit_query *query,
		 const struct search_options *options, int (*visit)(void *data, json_t *record),
		 void *data, struct search_result *ret_result, struct failure *failure)
{
	_cleanup_(audit_archive_closep) struct audit_archive *archive = NULL;
	_cleanup_(sha256_freep) struct sha256 *hash = sha256_new();
	struct search s = {.query = query, .options = options, .visit = visit, .data = data};
	int r;

	r = audit_archive_open(directory, &archive, failure);
	if (r < 0)
		return r;
	s.all = audit_query_is_empty(query);
	s.archive = archive;
	s.hash = hash;
	s.stretch = malloc(READ_SIZE + CHAIN_LINE_MAX);
	r = s.stretch && hash ? search_once(&s, directory, !options->no_index) : -ENOMEM;
	free(s.stretch);
	free(s.window.data);
	if (r < 0)
		return failure_set(failure, r, "cannot search the log in %s: %s", directory,
				   strerror(-r));
	*ret_result = s.result;
	return 0;
}
