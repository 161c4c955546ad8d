/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the places of each value of each field as differences in base 128. */
#include "audit/search/postings.h"

#include <string.h>

#include "base/fnv.h"

struct bucket {
	enum skim_field field;
	uint64_t hash;
	size_t value, size; /* the value's bytes in `values` */
	unsigned char *places;
	size_t places_size, places_capacity;
	uint32_t last;
};

struct postings {
	struct bucket *buckets; /* in order of appearance; with the memory of earlier rounds */
	size_t count, capacity;
	uint32_t *table; /* number of a bucket + 1; 0: free */
	size_t table_size;
	char *values;
	size_t values_size, values_capacity;
	uint32_t recent[SKIM_FIELD_COUNT]; /* number of the bucket last used + 1 */
};

struct postings *postings_new(void)
{
	struct postings *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->table_size = 1u << 12;
	p->table = calloc(p->table_size, sizeof(*p->table));
	if (!p->table) {
		free(p);
		return NULL;
	}
	return p;
}

void postings_free(struct postings *p)
{
	for (size_t i = 0; i < p->capacity; i++)
		free(p->buckets[i].places);
	free(p->buckets);
	free(p->table);
	free(p->values);
	free(p);
}

void postings_clear(struct postings *p)
{
	p->count = 0;
	p->values_size = 0;
	memset(p->table, 0, p->table_size * sizeof(*p->table));
	memset(p->recent, 0, sizeof(p->recent));
}

static uint64_t hash_of(enum skim_field field, const char *value, size_t size)
{
	uint64_t hash = fnv1a(FNV1A_START ^ (uint64_t)field, value, size);

	return hash ^ (hash >> 29);
}

static bool holds(const struct postings *p, const struct bucket *b, enum skim_field field,
		  const char *value, size_t size)
{
	return b->field == field && b->size == size &&
	       memcmp(p->values + b->value, value, size) == 0;
}

static int grow_table(struct postings *p)
{
	size_t size = p->table_size * 2;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++) {
		size_t at = p->buckets[i].hash & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(p->table);
	p->table = table;
	p->table_size = size;
	return 0;
}

static int keep_value(struct postings *p, const char *value, size_t size, size_t *ret)
{
	if (size > p->values_capacity - p->values_size) {
		size_t capacity = (p->values_capacity + size) * 2;
		char *grown = realloc(p->values, capacity);

		if (!grown)
			return -ENOMEM;
		p->values = grown;
		p->values_capacity = capacity;
	}
	if (size > 0)
		memcpy(p->values + p->values_size, value, size);
	*ret = p->values_size;
	p->values_size += size;
	return 0;
}

static int grow_buckets(struct postings *p)
{
	size_t capacity = p->capacity ? p->capacity * 2 : 256;
	struct bucket *grown = reallocarray(p->buckets, capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memset(grown + p->capacity, 0, (capacity - p->capacity) * sizeof(*grown));
	p->buckets = grown;
	p->capacity = capacity;
	return 0;
}

/* The bucket of the value, a new one if it has none. */
static int find(struct postings *p, enum skim_field field, const char *value, size_t size,
		struct bucket **ret)
{
	uint64_t hash = hash_of(field, value, size);
	struct bucket *bucket;
	size_t at;

	if (p->count * 2 >= p->table_size && grow_table(p) < 0)
		return -ENOMEM;
	for (at = hash & (p->table_size - 1); p->table[at]; at = (at + 1) & (p->table_size - 1)) {
		bucket = &p->buckets[p->table[at] - 1];
		if (bucket->hash == hash && holds(p, bucket, field, value, size)) {
			*ret = bucket;
			return 0;
		}
	}
	if (p->count == p->capacity && grow_buckets(p) < 0)
		return -ENOMEM;
	bucket = &p->buckets[p->count];
	if (keep_value(p, value, size, &bucket->value) < 0)
		return -ENOMEM;
	bucket->field = field;
	bucket->hash = hash;
	bucket->size = size;
	bucket->places_size = 0;
	bucket->last = 0;
	p->table[at] = (uint32_t)++p->count;
	*ret = bucket;
	return 0;
}

static int append(struct bucket *b, uint32_t place)
{
	uint32_t difference = place - b->last;

	if (b->places_capacity - b->places_size < 5) {
		size_t capacity = b->places_capacity ? b->places_capacity * 2 : 16;
		unsigned char *grown = realloc(b->places, capacity);

		if (!grown)
			return -ENOMEM;
		b->places = grown;
		b->places_capacity = capacity;
	}
	for (; difference >= 0x80; difference >>= 7)
		b->places[b->places_size++] = (unsigned char)(difference | 0x80);
	b->places[b->places_size++] = (unsigned char)difference;
	b->last = place;
	return 0;
}

int postings_add(struct postings *p, enum skim_field field, const char *value, size_t size,
		 uint32_t place)
{
	struct bucket *bucket = p->recent[field] ? &p->buckets[p->recent[field] - 1] : NULL;

	/* Records that follow each other are often alike. */
	if (!bucket || !holds(p, bucket, field, value, size)) {
		if (find(p, field, value, size, &bucket) < 0)
			return -ENOMEM;
		p->recent[field] = (uint32_t)(bucket - p->buckets) + 1;
	}
	return append(bucket, place);
}

static int compare(const void *left, const void *right, void *data)
{
	const struct postings *p = data;
	const struct bucket *a = &p->buckets[*(const uint32_t *)left];
	const struct bucket *b = &p->buckets[*(const uint32_t *)right];
	int r;

	if (a->field != b->field)
		return a->field < b->field ? -1 : 1;
	r = memcmp(p->values + a->value, p->values + b->value,
		   a->size < b->size ? a->size : b->size);
	if (r != 0)
		return r;
	return a->size < b->size ? -1 : a->size > b->size;
}

int postings_each(struct postings *p, int (*visit)(void *data, const struct posting *p), void *data)
{
	_cleanup_(freep) uint32_t *order = calloc(p->count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, p->count, sizeof(*order), compare, p);
	for (size_t i = 0; i < p->count; i++) {
		const struct bucket *b = &p->buckets[order[i]];
		int r = visit(data, &(struct posting){b->field, p->values + b->value, b->size,
						      b->places, b->places_size});

		if (r < 0)
			return r;
	}
	return 0;
}

bool postings_next(const unsigned char **at, const unsigned char *end, uint32_t *place)
{
	uint32_t difference = 0;

	for (unsigned int shift = 0; *at < end && shift < 32; shift += 7) {
		unsigned char byte = *(*at)++;

		difference |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*place += difference;
			return true;
		}
	}
	return false;
}
