/* SPDX-License-Identifier: Apache-2.0 */
/* Names and lists the closed segments of a log. */
#include "audit/storage/segments.h"

#include <inttypes.h>
#include <string.h>

#define DIGITS 20

void segments_name(uint64_t first, bool compressed, char name[SEGMENTS_NAME_SIZE])
{
	snprintf(name, SEGMENTS_NAME_SIZE, "%0*" PRIu64 ".jsonl%s", DIGITS, first,
		 compressed ? ".gz" : "");
}

bool segments_parse_name(const char *name, uint64_t *ret_first, bool *ret_compressed)
{
	uint64_t first = 0;

	for (size_t i = 0; i < DIGITS; i++) {
		if (name[i] < '0' || name[i] > '9' || __builtin_mul_overflow(first, 10, &first) ||
		    __builtin_add_overflow(first, (uint64_t)(name[i] - '0'), &first))
			return false;
	}
	name += DIGITS;
	if (first == 0 || (strcmp(name, ".jsonl") != 0 && strcmp(name, ".jsonl.gz") != 0))
		return false;
	*ret_first = first;
	*ret_compressed = name[strlen(".jsonl")] != '\0';
	return true;
}

void segments_free(struct segments *segments)
{
	free(segments->entries);
	*segments = (struct segments){};
}

static int add(struct segments *segments, size_t *capacity, struct segments_entry entry)
{
	if (segments->count == *capacity) {
		size_t grown = *capacity ? *capacity * 2 : 16;
		void *entries = reallocarray(segments->entries, grown, sizeof(*segments->entries));

		if (!entries)
			return -ENOMEM;
		segments->entries = entries;
		*capacity = grown;
	}
	segments->entries[segments->count++] = entry;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct segments_entry *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (int)x->compressed - (int)y->compressed;
}

static void drop_doubles(struct segments *segments)
{
	size_t kept = 0;

	for (size_t i = 0; i < segments->count; i++) {
		struct segments_entry *last = kept > 0 ? &segments->entries[kept - 1] : NULL;

		if (last && last->first == segments->entries[i].first)
			last->both = true;
		else
			segments->entries[kept++] = segments->entries[i];
	}
	segments->count = kept;
}

int segments_list(const char *directory, struct segments *ret_segments)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct segments segments = {};
	size_t capacity = 0;
	int r = 0;

	if (!dir)
		return -errno;
	for (;;) {
		struct segments_entry entry = {};
		struct dirent *found;

		errno = 0;
		found = readdir(dir);
		if (!found) {
			r = -errno;
			break;
		}
		if (!segments_parse_name(found->d_name, &entry.first, &entry.compressed))
			continue;
		r = add(&segments, &capacity, entry);
		if (r < 0)
			break;
	}
	if (r < 0) {
		segments_free(&segments);
		return r;
	}
	if (segments.count > 0)
		qsort(segments.entries, segments.count, sizeof(*segments.entries), compare);
	drop_doubles(&segments);
	*ret_segments = segments;
	return 0;
}
