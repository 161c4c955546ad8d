/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a log's chain and seals, and tells what is not as it should be. */
#include "audit/seal/verify.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/storage/chain.h"
#include "audit/read/check.h"
#include "audit/seal/findings.h"
#include "audit/read/lines.h"
#include "audit/seal/seal_check.h"
#include "audit/storage/segment.h"
#include "audit/storage/segments.h"
#include "base/clock.h"
#include "base/hex.h"

DEFINE_CLEANUP(json_t *, json_decref, verify_json_decrefp)

#define PROGRESS_EVERY 65536u
/* How many times its size a compressed segment has in lines, or so. */
#define COMPRESSION 12u
/* Records come from several sources, and times of kernel events from another clock. */
#define BACKWARDS_NSEC (5 * NSEC_PER_SEC)

/* Up to here the log goes, or went. */
struct point {
	uint64_t sequence;
	unsigned char chain[SHA256_SIZE];
};

/* A compressed segment: as it is, or as a record says it was. */
struct digest {
	uint64_t first;
	unsigned char digest[SHA256_SIZE];
};

struct list {
	void *items;
	size_t count, capacity;
};

struct verify {
	const struct verify_options *options;
	struct findings findings;
	struct verify_result result;
	struct lines *lines;
	uint64_t *sizes; /* of the log's files as lines, the one that grows last */
	size_t size_count;
	uint64_t all_bytes;
	uint64_t current_segment, segment_start; /* the one being read, and the bytes before it */
	struct check check;
	bool failed;	       /* no memory */
	struct list seen;      /* names of closed segments with a record in them */
	struct list ends;      /* of closed segments, points */
	struct list deletions; /* on record, points */
	struct list files;     /* compressed segments, digests */
	struct list recorded;  /* the same, on record */
	char *first_line;      /* whose digest was not checked, and its size */
	size_t first_size;
	struct seal_check seals;
	char latest[CLOCK_TEXT_SIZE]; /* the latest time seen */
	uint64_t latest_sequence;
};

static void add(struct verify *v, struct list *list, const void *item, size_t size)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 16;
		void *items = reallocarray(list->items, capacity, size);

		if (!items) {
			v->failed = true;
			return;
		}
		list->items = items;
		list->capacity = capacity;
	}
	memcpy((char *)list->items + list->count++ * size, item, size);
}

/* --- time --------------------------------------------------------------------------------- */

static const char time_member[] = ",\"@timestamp\":\"";
#define TIME_LENGTH (CLOCK_TEXT_SIZE - 2)

/* The record's time, and what follows it; NULL: it has none where all records have it. */
static const char *find_time(const char *line, size_t size)
{
	const char *comma = memchr(line, ',', size < 32 ? size : 32);

	if (!comma || size - (size_t)(comma - line) < sizeof(time_member) + TIME_LENGTH + 32 ||
	    memcmp(comma, time_member, sizeof(time_member) - 1) != 0)
		return NULL;
	return comma + sizeof(time_member) - 1;
}

/* As text, times of this form sort as they follow each other. */
static void check_time(struct verify *v, const char *time)
{
	uint64_t now, before;
	char text[CLOCK_TEXT_SIZE];

	if (memcmp(time, v->latest, TIME_LENGTH) >= 0) {
		memcpy(v->latest, time, TIME_LENGTH);
		v->latest_sequence = v->check.sequence;
		return;
	}
	if (clock_parse(time, &now) < 0 || clock_parse(v->latest, &before) < 0 ||
	    before - now <= BACKWARDS_NSEC)
		return;
	memcpy(text, time, TIME_LENGTH);
	text[TIME_LENGTH] = '\0';
	findings_note(&v->findings,
		      "the clock went back by %llu s: seq %" PRIu64 " is of %s, seq %" PRIu64
		      " of %s",
		      (before - now) / NSEC_PER_SEC, v->check.sequence, text, v->latest_sequence,
		      v->latest);
	memcpy(v->latest, time, TIME_LENGTH);
	v->latest_sequence = v->check.sequence;
}

/* --- segments ----------------------------------------------------------------------------- */

static bool parse_hex(const char *text, unsigned char bytes[SHA256_SIZE])
{
	return text && hex_decode(text, bytes, SHA256_SIZE) == 0;
}

/* Says that segments were deleted, or that one was compressed. */
static void note_record(struct verify *v, const char *line, size_t size)
{
	_cleanup_(verify_json_decrefp) json_t *record = json_loadb(line, size, 0, NULL);
	const char *chain = NULL, *digest = NULL;
	json_int_t last = 0, first = 0;
	struct point point;
	struct digest file;

	if (json_unpack(record, "{s:{s:{s:I, s:s}}}", "cordon", "retention", "last", &last, "chain",
			&chain) == 0 &&
	    last > 0 && parse_hex(chain, point.chain)) {
		point.sequence = (uint64_t)last;
		add(v, &v->deletions, &point, sizeof(point));
	} else if (json_unpack(record, "{s:{s:{s:I, s:s}}}", "cordon", "segment", "first", &first,
			       "sha256", &digest) == 0 &&
		   first > 0 && parse_hex(digest, file.digest)) {
		file.first = (uint64_t)first;
		add(v, &v->recorded, &file, sizeof(file));
	}
}

static void on_digest(void *data, uint64_t first, const unsigned char digest[SHA256_SIZE])
{
	struct verify *v = data;
	struct digest file = {.first = first};

	memcpy(file.digest, digest, sizeof(file.digest));
	add(v, &v->files, &file, sizeof(file));
}

/* Each compressed segment is, to the byte, what a record says. */
static void check_files(struct verify *v)
{
	const struct digest *files = v->files.items, *recorded = v->recorded.items;

	for (size_t i = 0; i < v->files.count; i++) {
		bool known = false, same = false;
		char name[SEGMENTS_NAME_SIZE];

		for (size_t k = 0; k < v->recorded.count; k++) {
			if (recorded[k].first != files[i].first)
				continue;
			known = true;
			same |= memcmp(recorded[k].digest, files[i].digest, SHA256_SIZE) == 0;
		}
		segments_name(files[i].first, true, name);
		if (!known)
			findings_problem(&v->findings, "%s: no record says that it was compressed",
					 name);
		else if (!same)
			findings_problem(&v->findings,
					 "%s: the file was changed after it was compressed", name);
	}
}

/* The chain value at the end of a closed segment that was read; NULL: none ends there. */
static const unsigned char *find_end(const struct verify *v, uint64_t sequence)
{
	const struct point *ends = v->ends.items;

	for (size_t i = 0; i < v->ends.count; i++)
		if (ends[i].sequence == sequence)
			return ends[i].chain;
	return NULL;
}

/* Does this deletion, which is on record, account for all before the first record? */
static bool accounts(struct verify *v, const struct point *deletion)
{
	unsigned char claimed[SHA256_SIZE], computed[SHA256_SIZE];
	const unsigned char *chain;
	uint64_t sequence;
	size_t body;

	if (deletion->sequence < v->check.first - 1)
		return false;
	/* A crash came before all of them were deleted. */
	if (deletion->sequence >= v->check.first) {
		chain = find_end(v, deletion->sequence);
		return chain && memcmp(chain, deletion->chain, SHA256_SIZE) == 0;
	}
	return v->first_line &&
	       chain_split(v->first_line, v->first_size, &body, &sequence, claimed) == 0 &&
	       chain_digest(v->check.hash, deletion->chain, v->first_line, body, computed) == 0 &&
	       memcmp(claimed, computed, SHA256_SIZE) == 0;
}

static void check_beginning(struct verify *v)
{
	const struct point *deletions = v->deletions.items;

	if (!v->check.begun || v->check.first == 1)
		return;
	for (size_t i = 0; i < v->deletions.count; i++) {
		if (accounts(v, &deletions[i])) {
			findings_note(&v->findings,
				      "seq 1 to %" PRIu64 " were deleted as the log's settings say",
				      v->check.first - 1);
			return;
		}
	}
	findings_problem(&v->findings, "the log begins with seq %" PRIu64 ": %" PRIu64 " missing",
			 v->check.first, v->check.first - 1);
	/* What lacks lay before every seal that is there. */
	if (v->seals.behind == 0)
		v->seals.behind = v->seals.sealed;
	v->seals.sealed = v->seals.proven = 0;
}

/* A last line without its newline. */
static void check_end(struct verify *v)
{
	v->result.torn_bytes = lines_torn(v->lines);
	if (v->result.torn_bytes > 0 && !segment_has_writer(lines_directory(v->lines)))
		findings_problem(&v->findings,
				 "the last line is cut off: %" PRIu64 " bytes of it are there",
				 v->result.torn_bytes);
}

/* --- lines -------------------------------------------------------------------------------- */

static void begin_segment(struct verify *v, uint64_t sequence)
{
	uint64_t named = lines_segment_first(v->lines);
	struct point end = {.sequence = v->check.sequence};

	if (named > 0)
		add(v, &v->seen, &named, sizeof(named));
	if (named > 0 && named != sequence)
		findings_problem(&v->findings, "%s begins with seq %" PRIu64, lines_path(v->lines),
				 sequence);
	if (!v->check.begun)
		return;
	memcpy(end.chain, v->check.chain, sizeof(end.chain));
	add(v, &v->ends, &end, sizeof(end));
}

static void keep_first(struct verify *v, const char *line, size_t size)
{
	v->first_line = malloc(size + 1);
	if (!v->first_line) {
		v->failed = true;
		return;
	}
	memcpy(v->first_line, line, size);
	v->first_size = size;
}

/* Each closed segment that was there has records: an empty one is not the writer's. */
static void check_seen(struct verify *v, const char *directory, const struct segments *segments)
{
	const uint64_t *seen = v->seen.items;

	for (size_t i = 0; i < segments->count; i++) {
		const struct segments_entry *entry = &segments->entries[i];
		char name[SEGMENTS_NAME_SIZE], path[PATH_MAX];
		size_t k = 0;

		while (k < v->seen.count && seen[k] != entry->first)
			k++;
		if (k < v->seen.count)
			continue;
		segments_name(entry->first, entry->compressed, name);
		/* One that was deleted meanwhile is no loss. */
		if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) &&
		    access(path, F_OK) == 0)
			findings_problem(&v->findings, "%s holds no record", path);
	}
}

static bool starts(const char *at, const char *end, const char *text)
{
	return (size_t)(end - at) >= strlen(text) && memcmp(at, text, strlen(text)) == 0;
}

static void check_seal(struct verify *v, const char *line, size_t size, const char *time,
		       const unsigned char previous[SHA256_SIZE], bool chained)
{
	const struct seal_place place = {
		.path = lines_path(v->lines),
		.line = lines_number(v->lines),
		.sequence = v->check.sequence,
		.time = time,
		.previous = chained && v->check.sequence > v->check.first ? previous : NULL,
	};

	seal_check_line(&v->seals, line, size, &place);
}

static void look_at(struct verify *v, const char *line, size_t size,
		    const unsigned char previous[SHA256_SIZE], bool chained)
{
	static const char event[] = "\",\"event\":{\"kind\":\"event\",\"action\":\"";
	const char *time = find_time(line, size), *action;

	if (!time)
		return;
	check_time(v, time);
	action = time + TIME_LENGTH;
	if (!starts(action, line + size, event))
		return;
	action += sizeof(event) - 1;
	if (starts(action, line + size, "seal\""))
		check_seal(v, line, size, time, previous, chained);
	else if (starts(action, line + size, "retention\"") ||
		 starts(action, line + size, "segment-compressed\""))
		note_record(v, line, size);
}

static int take_line(struct verify *v, const char *line, size_t size, struct failure *why)
{
	unsigned char previous[SHA256_SIZE];
	bool begun = v->check.begun;
	uint64_t sequence;
	int r;

	if (lines_number(v->lines) == 1 && chain_sequence(line, size, &sequence) == 0)
		begin_segment(v, sequence);
	memcpy(previous, v->check.chain, sizeof(previous));
	r = check_line(&v->check, v->lines, line, size, why);
	if (r < 0 && r != -EBADMSG)
		return r;
	if (r == 0)
		v->result.records++;
	else
		findings_problem(&v->findings, "%s", why->text);
	if (!begun && v->check.begun && v->check.first > 1)
		keep_first(v, line, size);
	/* A seal behind the deleted part is checked with what it says itself. */
	look_at(v, line, size, previous, r == 0);
	return 0;
}

/* What there is to read: of compressed segments no more than an estimate. */
static int take_sizes(struct verify *v, const char *directory, const struct segments *segments)
{
	v->sizes = calloc(segments->count + 1, sizeof(*v->sizes));
	if (!v->sizes)
		return -ENOMEM;
	v->size_count = segments->count + 1;
	for (size_t i = 0; i < v->size_count; i++) {
		bool compressed = i < segments->count && segments->entries[i].compressed;
		char name[SEGMENTS_NAME_SIZE] = SEGMENT_NAME, path[PATH_MAX];
		struct stat st;

		if (i < segments->count)
			segments_name(segments->entries[i].first, compressed, name);
		if (snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) &&
		    stat(path, &st) == 0)
			v->sizes[i] = (uint64_t)st.st_size * (compressed ? COMPRESSION : 1);
		v->all_bytes += v->sizes[i];
	}
	return 0;
}

/* A segment that was read to its end counts as what was expected of it. */
static void tell_progress(struct verify *v)
{
	uint64_t opened = lines_segment_count(v->lines), done = 0, within;

	if (!v->options->progress || opened == 0)
		return;
	if (opened != v->current_segment) {
		v->current_segment = opened;
		v->segment_start = lines_bytes(v->lines);
	}
	for (size_t i = 0; i + 1 < opened && i < v->size_count; i++)
		done += v->sizes[i];
	within = lines_bytes(v->lines) - v->segment_start;
	if (opened <= v->size_count && within > v->sizes[opened - 1])
		within = v->sizes[opened - 1];
	v->options->progress(v->options->progress_data, done + within, v->all_bytes);
}

static int read_all(struct verify *v, struct failure *failure)
{
	for (uint64_t count = 0;; count++) {
		struct failure why = {};
		const char *line;
		size_t size;
		int r = lines_next(v->lines, &line, &size, &why);

		if (r == -ENODATA)
			return v->failed ? -ENOMEM : 0;
		if (r == -EBADMSG)
			findings_problem(&v->findings, "%s", why.text);
		else if (r == 0)
			r = take_line(v, line, size, &why);
		if (r < 0 && r != -EBADMSG)
			return failure_set(failure, r, "%s", why.text);
		if (count % PROGRESS_EVERY == 0)
			tell_progress(v);
	}
}

static void release(struct verify *v)
{
	lines_closep(&v->lines);
	check_release(&v->check);
	free(v->sizes);
	free(v->seen.items);
	free(v->ends.items);
	free(v->deletions.items);
	free(v->files.items);
	free(v->recorded.items);
	free(v->first_line);
	seal_check_release(&v->seals);
}

static int run(struct verify *v, const char *directory, struct failure *failure)
{
	struct segments segments;
	int r = check_init(&v->check);

	if (r == 0)
		r = seal_check_begin(&v->seals, &v->findings, v->options->keys,
				     v->options->key_count, directory);
	if (r == -E2BIG)
		return failure_set(failure, r, "at most %u keys can be given", SEAL_KEYS_MAX);
	if (r < 0)
		return r;
	r = lines_open(directory, true, &v->lines, failure);
	if (r < 0)
		return r;
	r = segments_list(directory, &segments);
	if (r < 0)
		return failure_set(failure, r, "cannot read %s: %m", directory);
	lines_on_digest(v->lines, on_digest, v);
	r = take_sizes(v, directory, &segments);
	if (r == 0)
		r = read_all(v, failure);
	if (r == 0)
		check_seen(v, directory, &segments);
	segments_free(&segments);
	if (r < 0)
		return r;
	check_beginning(v);
	check_end(v);
	check_files(v);
	seal_check_end(&v->seals);
	v->result.problems = v->findings.problems;
	v->result.notes = v->findings.notes;
	v->result.seals = v->seals.seals;
	v->result.unchecked = v->seals.unchecked;
	v->result.proven = v->seals.proven;
	v->result.sealed = v->seals.sealed;
	v->result.behind = v->seals.behind;
	v->result.segments = lines_segment_count(v->lines);
	v->result.bytes = lines_bytes(v->lines);
	v->result.first = v->check.begun ? v->check.first : 0;
	v->result.sequence = v->check.sequence;
	memcpy(v->result.chain, v->check.chain, sizeof(v->result.chain));
	return 0;
}

int verify_log(const char *directory, const struct verify_options *options,
	       struct verify_result *ret_result, struct failure *failure)
{
	struct verify v = {.options = options,
			   .findings = {.problem = options->problem,
					.note = options->note,
					.data = options->data}};
	int r = run(&v, directory, failure);

	if (r == 0)
		*ret_result = v.result;
	release(&v);
	return r;
}
