/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accessed names as a tree of patterns, which is then reduced. Names that vary between runs
 * become one pattern, and many similar names in one directory become a wildcard.
 */
#ifndef CORDON_INSIGHT_LEARN_TREE_H
#define CORDON_INSIGHT_LEARN_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/arena.h"

/* The accesses that caused a rule. */
struct evidence {
	uint64_t count;	     /* number of accesses */
	uint64_t record;     /* the first one */
	const char *program; /* the program of the first one */
	bool others;	     /* other programs did it, too */
};

void evidence_add(struct evidence *e, const struct evidence *more);

struct learn_node {
	const char *pattern; /* of this component; "**": everything below */
	uint32_t rights;     /* on the object, CORDON_RIGHT() bits */
	bool listing;	     /* it was listed */
	bool moved;	     /* something was moved from or to here */
	bool tree;	     /* a moved directory: one set of rights applies below it */
	bool above_link;     /* a link below it is denied if rules distinguish names below it */
	uint64_t runs;	     /* bit n: run n accessed it or something below */
	struct evidence evidence;
	struct learn_node *children, *next; /* in order of appearance */
};

/* NULL: no memory. */
struct learn_node *learn_tree_new(struct arena *a);

/* The child with this pattern, made if need be. NULL: no memory. */
struct learn_node *learn_tree_child(struct arena *a, struct learn_node *parent,
				    const char *pattern);

struct learn_area {
	bool scratch; /* work and temporary directories: files made there have varying names */
	unsigned int depth; /* number of components above that are never reduced */
	uint64_t runs;	    /* bit n: there is a run n */
};

/* -ENOMEM. */
int learn_tree_reduce(struct arena *a, struct learn_node *root, const struct learn_area *area);

#endif
