/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Denials by the rule that decided, and within it by directory, what matters most first: however
 * many there are, one of a rule that somebody gave a severity is not lost among those of no rule.
 */
#ifndef CORDON_INSIGHT_CLUSTERS_H
#define CORDON_INSIGHT_CLUSTERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insight/story/denials.h"

/* Up to so many objects of one directory are told apart. */
#define CLUSTERS_ALIKE_MAX 5u
/*
 * Of a cluster at most so many places: where there are more, directories are folded into those
 * above them.
 */
#define CLUSTERS_PLACES_MAX 50u

/* What was refused in one directory, or of one object. */
struct denial_place {
	const struct denial_group *first;
	const char *where; /* `length` bytes of the first one's object */
	size_t length;
	size_t order; /* among all groups */
	size_t objects;
	uint64_t count; /* accesses */
	uint64_t records;
	bool below; /* of directories further down, too */
};

struct denial_cluster {
	const json_t *first;
	unsigned int weight; /* see denial_weight() */
	size_t objects;
	uint64_t count;
	struct denial_place *places; /* in the order of their first records */
	size_t place_count;
	size_t omitted; /* places that are not among them */
};

struct denial_clusters {
	struct denial_cluster *items; /* the heaviest first */
	size_t count, capacity;
};

/* What a denial by a rule weighs at least. */
#define DENIAL_WEIGHT_RULE 10u

/*
 * How much a denial matters: by the rule's severity, then by its tags; without a rule it is 0, or
 * little more.
 */
unsigned int denial_weight(const json_t *record);

/* Those of the groups that are denials; the groups are borrowed. -ENOMEM. */
int denial_clusters_build(const struct denial_groups *groups, struct denial_clusters *ret);
void denial_clusters_free(struct denial_clusters *clusters);

/*
 * "read of 3003 files in /usr/share/doc/ was refused"; as denial_phrase() for a single object.
 * Caller frees.
 */
char *denial_place_phrase(const struct denial_place *place);

/*
 * The rule that is suggested for the first one, and for all of one place where it has several
 * files: of what is in its directory, or below it. Caller frees; NULL: there is none.
 */
char *denial_place_rule(const struct denial_place *place);

#endif
