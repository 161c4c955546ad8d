/* SPDX-License-Identifier: Apache-2.0 */
/* Groups denials by rule and directory, the most severe first. */
#include "insight/story/clusters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "insight/text/view.h"

/* Deeper directories are folded at first. */
#define DEPTH_MAX 16u
/* Minimum of directories below one for the first folding; then fewer. */
#define FOLD_FIRST 8u

/* Heavier than a denial without a rule. */
#define WEIGHT_SEVERITY 20u
#define WEIGHT_TAGS	5u
#define WEIGHT_FOREIGN	5u

unsigned int denial_weight(const json_t *record)
{
	static const char *const severities[] = {"info", "low", "medium", "high", "critical"};
	const char *reason = view_text(record, "cordon.reason");
	const char *severity = view_text(record, "cordon.rule.severity");
	unsigned int weight = 0;

	if (!reason || strcmp(reason, "default") == 0)
		return 0;
	/* Denials because of other executions or the host, which no policy can permit. */
	if (strcmp(reason, "rule") != 0 && strcmp(reason, "permissions") != 0)
		return WEIGHT_FOREIGN;
	for (unsigned int i = 0; severity && i < ARRAY_SIZE(severities); i++)
		if (strcmp(severities[i], severity) == 0)
			weight = (i + 1) * WEIGHT_SEVERITY;
	if (json_array_size(view_field(record, "cordon.rule.tags")) > 0)
		weight += WEIGHT_TAGS;
	return weight + DENIAL_WEIGHT_RULE;
}

/* --- where -------------------------------------------------------------------------------- */

static bool is_path(const json_t *record)
{
	const char *kind = view_text(record, "cordon.object.kind");

	return kind && strcmp(kind, "path") == 0;
}

/*
 * Returns the length of a path's directory or of a destination's address, else of the whole object.
 */
static size_t where_length(const json_t *record, const char *object)
{
	const char *kind = view_text(record, "cordon.object.kind"), *end = NULL;
	size_t length = strlen(object);

	if (is_path(record)) {
		/* A listed directory has a final slash. */
		while (length > 1 && object[length - 1] == '/')
			length--;
		while (length > 0 && object[length - 1] != '/')
			length--;
		return length;
	}
	if (kind && strcmp(kind, "net") == 0)
		end = strrchr(object, ':');
	return end ? (size_t)(end - object) : length;
}

/* Returns the length of the first `depth` directories, or 0 if there are fewer. */
static size_t prefix_length(const struct denial_place *p, unsigned int depth)
{
	size_t at = 0;

	for (size_t i = 0; i < p->length; i++)
		if (p->where[i] == '/' && i > 0 && depth-- == 1) {
			at = i + 1;
			break;
		}
	return at;
}

/* --- sorting into clusters ---------------------------------------------------------------- */

struct entry {
	size_t cluster, verb;
	struct denial_place place;
};

struct building {
	struct denial_clusters *made;
	json_t *clusters, *verbs; /* from identity to number */
	struct entry *entries;
	size_t count;
};

/* Joins fields of a record to one text. */
static char *key_of(const json_t *record, const char *const *names, size_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *value = view_field(record, names[i]);

		if (value)
			json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY);
		fputc('\n', out);
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int number_of(json_t *numbers, const json_t *record, const char *const *names, size_t count,
		     size_t *ret)
{
	_cleanup_(freep) char *key = key_of(record, names, count);
	const json_t *known = key ? json_object_get(numbers, key) : NULL;

	*ret = known ? (size_t)json_integer_value(known) : json_object_size(numbers);
	if (!key || (!known &&
		     json_object_set_new_nocheck(numbers, key, json_integer((json_int_t)*ret)) < 0))
		return -ENOMEM;
	return 0;
}

static int add_cluster(struct denial_clusters *made, const json_t *record)
{
	if (made->count == made->capacity) {
		size_t capacity = made->capacity ? made->capacity * 2 : 16;
		struct denial_cluster *items = reallocarray(made->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		made->items = items;
		made->capacity = capacity;
	}
	made->items[made->count++] =
		(struct denial_cluster){.first = record, .weight = denial_weight(record)};
	return 0;
}

static int add_entry(struct building *b, const struct denial_group *group, size_t order)
{
	static const char *const rule[] = {"event.action",	 "cordon.reason",
					   "cordon.rule.file",	 "cordon.rule.line",
					   "cordon.rule.number", "cordon.rule.text",
					   "cordon.damaged"};
	static const char *const verb[] = {"cordon.operation", "cordon.rights", "cordon.error",
					   "cordon.object.kind", "network.transport"};
	const char *object = view_text(group->first, "cordon.object.text");
	struct entry *e = &b->entries[b->count++];
	int r;

	r = number_of(b->clusters, group->first, rule, ARRAY_SIZE(rule), &e->cluster);
	if (r == 0)
		r = number_of(b->verbs, group->first, verb, ARRAY_SIZE(verb), &e->verb);
	if (r == 0 && e->cluster == b->made->count)
		r = add_cluster(b->made, group->first);
	if (r < 0)
		return r;
	object = object ? object : "";
	e->place = (struct denial_place){
		.first = group,
		.where = object,
		.length = where_length(group->first, object),
		.order = order,
		.objects = 1,
		.count = group->count,
		.records = group->records,
	};
	b->made->items[e->cluster].count += group->count;
	b->made->items[e->cluster].objects++;
	return 0;
}

static int compare_where(const struct denial_place *a, const struct denial_place *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int r = memcmp(a->where, b->where, shorter);

	if (r == 0 && a->length != b->length)
		return a->length < b->length ? -1 : 1;
	return r;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int r;

	if (a->cluster != b->cluster)
		return a->cluster < b->cluster ? -1 : 1;
	if (a->verb != b->verb)
		return a->verb < b->verb ? -1 : 1;
	r = compare_where(&a->place, &b->place);
	return r ? r : (a->place.order > b->place.order) - (a->place.order < b->place.order);
}

/* --- folding ------------------------------------------------------------------------------ */

static void merge(struct denial_place *to, const struct denial_place *from)
{
	to->objects += from->objects;
	to->count += from->count;
	to->records += from->records;
	if (from->order < to->order) {
		to->order = from->order;
		to->first = from->first;
		to->where = from->where;
	}
}

static bool same_prefix(const struct entry *a, const struct entry *b, unsigned int depth)
{
	size_t length = prefix_length(&a->place, depth);

	return a->verb == b->verb && length > 0 && length == prefix_length(&b->place, depth) &&
	       memcmp(a->place.where, b->place.where, length) == 0;
}

/*
 * Folds directories at `depth` with more than `few` places below them. Returns the remaining number
 * of places.
 */
static size_t fold_depth(struct entry *e, size_t count, unsigned int depth, size_t few)
{
	size_t made = 0;

	for (size_t i = 0, end; i < count; i = end) {
		size_t length = prefix_length(&e[i].place, depth);

		for (end = i + 1; end < count && same_prefix(&e[i], &e[end], depth);)
			end++;
		if (end - i <= few || !is_path(e[i].place.first->first)) {
			memmove(&e[made], &e[i], (end - i) * sizeof(*e));
			made += end - i;
			continue;
		}
		e[made] = e[i];
		for (size_t k = i + 1; k < end; k++)
			merge(&e[made].place, &e[k].place);
		e[made].place.length = length;
		e[made++].place.below = true;
	}
	return made;
}

static size_t fold(struct entry *e, size_t count)
{
	for (size_t few = FOLD_FIRST; few > 0 && count > CLUSTERS_PLACES_MAX; few /= 2)
		for (unsigned int depth = DEPTH_MAX; depth > 0 && count > CLUSTERS_PLACES_MAX;
		     depth--)
			count = fold_depth(e, count, depth, few);
	return count;
}

static bool is_beside(const struct entry *a, const struct entry *b)
{
	return a->verb == b->verb && compare_where(&a->place, &b->place) == 0;
}

/* Merges objects of the same directory if there are enough. */
static size_t fold_same(struct entry *e, size_t count)
{
	size_t made = 0;

	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && is_beside(&e[i], &e[end]);)
			end++;
		memmove(&e[made], &e[i], (end - i) * sizeof(*e));
		for (size_t k = 1; end - i > CLUSTERS_ALIKE_MAX && k < end - i; k++)
			merge(&e[made].place, &e[made + k].place);
		made += end - i > CLUSTERS_ALIKE_MAX ? 1 : end - i;
	}
	return made;
}

static int compare_order(const void *left, const void *right)
{
	const struct denial_place *a = left, *b = right;

	return (a->order > b->order) - (a->order < b->order);
}

static int take_places(struct denial_cluster *cluster, struct entry *e, size_t count)
{
	count = fold(e, fold_same(e, count));
	cluster->places = calloc(count + 1, sizeof(*cluster->places));
	if (!cluster->places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		cluster->places[i] = e[i].place;
	qsort(cluster->places, count, sizeof(*cluster->places), compare_order);
	cluster->place_count = count < CLUSTERS_PLACES_MAX ? count : CLUSTERS_PLACES_MAX;
	cluster->omitted = count - cluster->place_count;
	return 0;
}

static int compare_clusters(const void *left, const void *right)
{
	const struct denial_cluster *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->places[0].order > b->places[0].order) -
	       (a->places[0].order < b->places[0].order);
}

static int build(struct building *b, const struct denial_groups *groups)
{
	int r = 0;

	if (!b->clusters || !b->verbs || !b->entries)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < groups->count; i++)
		if (view_is_denial(groups->items[i].first))
			r = add_entry(b, &groups->items[i], i);
	if (r < 0)
		return r;
	qsort(b->entries, b->count, sizeof(*b->entries), compare_entries);
	for (size_t i = 0, end; r == 0 && i < b->count; i = end) {
		for (end = i + 1;
		     end < b->count && b->entries[end].cluster == b->entries[i].cluster;)
			end++;
		r = take_places(&b->made->items[b->entries[i].cluster], &b->entries[i], end - i);
	}
	if (r == 0 && b->made->count > 0)
		qsort(b->made->items, b->made->count, sizeof(*b->made->items), compare_clusters);
	return r;
}

int denial_clusters_build(const struct denial_groups *groups, struct denial_clusters *ret)
{
	struct building b = {
		.made = ret,
		.clusters = json_object(),
		.verbs = json_object(),
		.entries = calloc(groups->count + 1, sizeof(*b.entries)),
	};
	int r;

	*ret = (struct denial_clusters){};
	r = build(&b, groups);
	json_decref(b.clusters);
	json_decref(b.verbs);
	free(b.entries);
	if (r < 0)
		denial_clusters_free(ret);
	return r;
}

void denial_clusters_free(struct denial_clusters *clusters)
{
	for (size_t i = 0; i < clusters->count; i++)
		free(clusters->items[i].places);
	free(clusters->items);
	*clusters = (struct denial_clusters){};
}

char *denial_place_phrase(const struct denial_place *place)
{
	const json_t *record = place->first->first;
	const char *kind = view_text(record, "cordon.object.kind");
	_cleanup_(freep) char *objects = NULL;
	int n;

	if (place->objects == 1)
		return denial_phrase(record);
	if (is_path(record))
		n = asprintf(&objects, "%zu files %s %.*s", place->objects,
			     place->below ? "below" : "in", (int)place->length, place->where);
	else
		n = asprintf(&objects, "%zu %s %.*s", place->objects,
			     kind && strcmp(kind, "net") == 0 ? "ports of" : "objects like",
			     (int)place->length, place->where);
	if (n < 0) {
		objects = NULL;
		return NULL;
	}
	return denial_phrase_of(record, objects);
}

/*
 * Returns the end of `from` to `to` without its last `count` components; NULL if there are no more.
 */
static const char *without_last(const char *from, const char *to, size_t count)
{
	while (to > from && count > 0)
		count -= *--to == '/';
	return count == 0 && to > from ? to + 1 : NULL;
}

/* Do not suggest a rule for all of /home or /opt: this needs an operator's own decision. */
#define BELOW_MIN 2u

char *denial_place_rule(const struct denial_place *place)
{
	static const char opened[] = "paths: [\"", closed[] = "\"]}";
	const char *rule = view_text(place->first->first, "cordon.suggestion.rule");
	const char *path = rule ? strstr(rule, opened) : NULL, *end, *keep = NULL;
	size_t count = 1, length = strlen(place->where);
	char *made;

	if (!rule)
		return NULL;
	end = path ? strstr(path, closed) : NULL;
	/* A listed directory has another pattern. */
	if (place->objects > 1 && (!place->below || prefix_length(place, BELOW_MIN) > 0) &&
	    is_path(place->first->first) && end && !end[strlen(closed)] &&
	    place->where[length - 1] != '/') {
		path += strlen(opened);
		for (const char *at = place->where + place->length; *at; at++)
			count += *at == '/';
		keep = without_last(path, end, count);
	}
	if (!keep)
		return strdup(rule);
	if (asprintf(&made, "%.*s%s%s", (int)(keep - rule), rule, place->below ? "**" : "*",
		     closed) < 0)
		return NULL;
	return made;
}
