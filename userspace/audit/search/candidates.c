/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a log to look for what a query asks for, as its index says. */
#include "audit/search/candidates.h"

#include <string.h>

#include "base/uuid.h"

/* So few are looked at faster than narrowed down. */
#define FEW 2048

/* Places in blocks, each (number of the block << 32 | place in it). */
struct places {
	uint64_t *items;
	size_t count, capacity;
	bool unsorted;
};

struct finding {
	struct index_file *file;
	const struct audit_query *query;
	struct index_block *blocks;
	size_t block_count;
	bool *wanted; /* per block: in the archive, and of the time that is asked for */
	struct places all;
	bool narrowed; /* by one criterion at least; else `all` says nothing */
	/* one criterion */
	struct places some;
	bool (*accepts)(const struct audit_query *query, const struct posting *posting);
	char last[4096]; /* the value looked at last, and whether it was accepted */
	size_t last_size;
	bool last_accepted;
};

void candidates_release(struct candidates *candidates)
{
	free(candidates->items);
}

static int add_place(struct places *p, uint64_t place)
{
	if (p->count == p->capacity) {
		size_t capacity = p->capacity ? p->capacity * 2 : 1024;
		uint64_t *grown = reallocarray(p->items, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->items = grown;
		p->capacity = capacity;
	}
	if (p->count > 0 && place <= p->items[p->count - 1])
		p->unsorted = true;
	p->items[p->count++] = place;
	return 0;
}

/* Rows come value by value, so that each value is judged once. */
static bool accepted(struct finding *f, const struct posting *posting)
{
	if (!f->accepts)
		return true;
	if (posting->size < sizeof(f->last) && posting->size == f->last_size &&
	    memcmp(posting->value, f->last, f->last_size) == 0)
		return f->last_accepted;
	f->last_accepted = f->accepts(f->query, posting);
	f->last_size = SIZE_MAX;
	if (posting->size < sizeof(f->last)) {
		memcpy(f->last, posting->value, posting->size);
		f->last_size = posting->size;
	}
	return f->last_accepted;
}

static int take_posting(void *data, int64_t block, const struct posting *posting)
{
	const unsigned char *at = posting->places, *end = at + posting->places_size;
	struct finding *f = data;
	uint32_t place = 0;

	if (block < 1 || (uint64_t)block > f->block_count)
		return -EBADMSG;
	if (!f->wanted[block - 1] || !accepted(f, posting))
		return 0;
	while (postings_next(&at, end, &place)) {
		if (place >= f->blocks[block - 1].size ||
		    add_place(&f->some, (uint64_t)block << 32 | place) < 0)
			return place >= f->blocks[block - 1].size ? -EBADMSG : -ENOMEM;
	}
	return at == end ? 0 : -EBADMSG;
}

static int compare_places(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Keeps of `all` what the criterion found, too. */
static void narrow(struct finding *f)
{
	struct places *all = &f->all, *some = &f->some;
	size_t kept = 0, i = 0;

	if (some->unsorted)
		qsort(some->items, some->count, sizeof(*some->items), compare_places);
	if (!f->narrowed) {
		struct places swap = *all;

		*all = *some;
		*some = swap;
		f->narrowed = true;
		return;
	}
	for (size_t j = 0; j < all->count; j++) {
		while (i < some->count && some->items[i] < all->items[j])
			i++;
		if (i < some->count && some->items[i] == all->items[j])
			all->items[kept++] = all->items[j];
	}
	all->count = kept;
}

static bool is_enough(const struct finding *f)
{
	return f->narrowed && f->all.count <= FEW;
}

/*
 * Records whose field has one of the values. `second`: another field that will do, or
 * SKIM_FIELD_COUNT.
 */
static int apply(struct finding *f, enum skim_field field, enum skim_field second,
		 const char *prefix, bool whole,
		 bool (*accepts)(const struct audit_query *query, const struct posting *posting))
{
	int r;

	if (is_enough(f))
		return 0;
	f->some.count = 0;
	f->some.unsorted = false;
	f->accepts = accepts;
	f->last_size = SIZE_MAX;
	r = index_file_walk(f->file, field, prefix, whole, take_posting, f);
	if (r == 0 && second != SKIM_FIELD_COUNT) {
		f->last_size = SIZE_MAX;
		r = index_file_walk(f->file, second, prefix, whole, take_posting, f);
	}
	if (r == 0)
		narrow(f);
	return r;
}

static bool accepts_execution(const struct audit_query *query, const struct posting *posting)
{
	return uuid_is_named(posting->value, posting->size, query->execution);
}

static bool accepts_path(const struct audit_query *query, const struct posting *posting)
{
	return audit_glob_matches(query->path, posting->value, posting->size);
}

static bool accepts_address(const struct audit_query *query, const struct posting *posting)
{
	return audit_network_contains(query->address, posting->value, posting->size);
}

static bool accepts_verdict(const struct audit_query *query, const struct posting *posting)
{
	return audit_verdict_has(query->verdict, posting->value, posting->size);
}

/* The digest may be meant as well. */
static int apply_policy(struct finding *f, const char *policy)
{
	bool digest = strlen(policy) >= 8 && strspn(policy, "0123456789abcdef") == strlen(policy);

	/* Either would do, and the two are spelled differently: leave it to the records. */
	if (digest)
		return 0;
	return apply(f, SKIM_POLICY, SKIM_FIELD_COUNT, policy, true, NULL);
}

/* The criteria that say most come first. */
static int apply_all(struct finding *f)
{
	const struct audit_query *q = f->query;
	int r = 0;

	/* What has no dash may be the end of an id. */
	if (q->execution && strchr(q->execution, '-'))
		r = apply(f, SKIM_EXECUTION, SKIM_FIELD_COUNT, q->execution, false, NULL);
	else if (q->execution)
		r = apply(f, SKIM_EXECUTION, SKIM_FIELD_COUNT, "", false, accepts_execution);
	if (r == 0 && q->path)
		r = apply(f, SKIM_PATH, SKIM_EXECUTABLE, audit_glob_prefix(q->path), false,
			  accepts_path);
	if (r == 0 && q->address)
		r = apply(f, SKIM_ADDRESS, SKIM_FIELD_COUNT, "", false, accepts_address);
	if (r == 0 && q->session)
		r = apply(f, SKIM_SESSION, SKIM_FIELD_COUNT, q->session, true, NULL);
	if (r == 0 && q->agent)
		r = apply(f, SKIM_AGENT, SKIM_FIELD_COUNT, q->agent, true, NULL);
	if (r == 0 && q->policy)
		r = apply_policy(f, q->policy);
	if (r == 0 && q->operation)
		r = apply(f, SKIM_OPERATION, SKIM_FIELD_COUNT, q->operation, true, NULL);
	if (r == 0 && q->action)
		r = apply(f, SKIM_ACTION, SKIM_FIELD_COUNT, q->action, true, NULL);
	if (r == 0 && q->verdict != AUDIT_VERDICT_ANY)
		r = apply(f, SKIM_ACTION, SKIM_FIELD_COUNT, "", false, accepts_verdict);
	return r;
}

static uint32_t number_of(int64_t segment, const int64_t *numbers, size_t segments)
{
	for (size_t i = 0; i < segments; i++)
		if (numbers[i] == segment)
			return (uint32_t)i;
	return UINT32_MAX;
}

static bool in_time(const struct index_block *block, const struct audit_query *q)
{
	if (!block->since[0])
		return !q->since && !q->until;
	return (!q->since || strcmp(block->until, q->since) >= 0) &&
	       (!q->until || strcmp(block->since, q->until) <= 0);
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The places, or all blocks that are wanted where nothing says more. */
static int resolve(const struct finding *f, const uint32_t *numbers, struct candidates *ret)
{
	size_t count = f->narrowed ? f->all.count : f->block_count, made = 0;
	struct candidate *items = calloc(count + 1, sizeof(*items));
	bool sorted = true;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t block = f->narrowed ? (size_t)(f->all.items[i] >> 32) - 1 : i;
		uint32_t place = f->narrowed ? (uint32_t)f->all.items[i] : 0;

		if (!f->wanted[block])
			continue;
		items[made] = (struct candidate){
			.segment = numbers[block],
			.size = f->narrowed ? 0 : f->blocks[block].size,
			.offset = f->blocks[block].start + place,
		};
		sorted &= made == 0 || compare_candidates(&items[made - 1], &items[made]) < 0;
		made++;
	}
	/*
	 * Blocks are in the order of indexing, which a log that was put back together need not be.
	 */
	if (!sorted)
		qsort(items, made, sizeof(*items), compare_candidates);
	ret->items = items;
	ret->count = made;
	return 0;
}

int candidates_find(struct index_file *file, const struct audit_query *query,
		    const int64_t *numbers, size_t segments, struct candidates *ret_candidates)
{
	_cleanup_(freep) struct finding *f = calloc(1, sizeof(*f));
	_cleanup_(freep) struct index_block *blocks = NULL;
	_cleanup_(freep) uint32_t *block_segments = NULL;
	_cleanup_(freep) bool *wanted = NULL;
	int r;

	if (!f)
		return -ENOMEM;
	f->file = file;
	f->query = query;
	r = index_file_blocks(file, &blocks, &f->block_count);
	if (r < 0)
		return r;
	f->blocks = blocks;
	wanted = calloc(f->block_count + 1, sizeof(*wanted));
	block_segments = calloc(f->block_count + 1, sizeof(*block_segments));
	if (!wanted || !block_segments)
		return -ENOMEM;
	f->wanted = wanted;
	for (size_t i = 0; i < f->block_count; i++) {
		block_segments[i] = number_of(blocks[i].segment, numbers, segments);
		wanted[i] = block_segments[i] != UINT32_MAX && in_time(&blocks[i], query);
	}
	r = apply_all(f);
	if (r == 0)
		r = resolve(f, block_segments, ret_candidates);
	free(f->all.items);
	free(f->some.items);
	return r;
}
