/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups denials by the deciding rule, and within a rule by directory, the most severe first. A
 * denial with a severity is therefore not lost among many without a rule.
 */
#ifndef CORDON_INSIGHT_CLUSTERS_H
#define CORDON_INSIGHT_CLUSTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insight/story/denials.h"

/* Up to this many objects of one directory are listed separately. */
#define CLUSTERS_ALIKE_MAX 5u
/* Maximum of places in a cluster: with more, directories are folded into their parents. */
#define CLUSTERS_PLACES_MAX 50u

/* Denials in one directory, or of one object. */
struct denial_place {
	const struct denial_group *first;
	const char *where; /* `length` bytes of the first one's object */
	size_t length;
	size_t order; /* among all groups */
	size_t objects;
	uint64_t count; /* accesses */
	uint64_t records;
	bool below; /* includes subdirectories */
};

struct denial_cluster {
	const json_t *first;
	unsigned int weight; /* see denial_weight() */
	size_t objects;
	uint64_t count;
	struct denial_place *places; /* in the order of their first records */
	size_t place_count;
	size_t omitted; /* number of omitted places */
};

struct denial_clusters {
	struct denial_cluster *items; /* the heaviest first */
	size_t count, capacity;
};

/* Minimum weight of a denial by a rule. */
#define DENIAL_WEIGHT_RULE 10u

/*
 * Returns how important a denial is: by the rule's severity, then by its tags. Without a rule it is
 * 0 or small.
 */
unsigned int denial_weight(const json_t *record);

/* Groups the denials among `groups`, which must outlive the result. Returns 0 or -ENOMEM. */
int denial_clusters_build(const struct denial_groups *groups, struct denial_clusters *ret);
void denial_clusters_free(struct denial_clusters *clusters);

/*
 * Formats "read of 3003 files in /usr/share/doc/ was denied", or as denial_phrase() for a single
 * object. The caller frees it.
 */
char *denial_place_phrase(const struct denial_place *place);

/*
 * Returns the suggested rule of the first denial; for several files of a place a rule for the
 * directory or everything below it. The caller frees it. NULL: none.
 */
char *denial_place_rule(const struct denial_place *place);

#endif
