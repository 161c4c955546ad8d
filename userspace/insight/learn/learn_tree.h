/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that were accessed as a tree of patterns, which is then made smaller: names that vary
 * between runs become one pattern, and many alike in one directory a wildcard.
 */
#ifndef CORDON_INSIGHT_LEARN_TREE_H
#define CORDON_INSIGHT_LEARN_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/core/arena.h"

/* Why there is a rule. */
struct evidence {
	uint64_t count;	     /* accesses */
	uint64_t record;     /* the first */
	const char *program; /* that caused it */
	bool others;	     /* other programs, too */
};

void evidence_add(struct evidence *e, const struct evidence *more);

struct learn_node {
	const char *pattern; /* of this component; "**": everything below */
	uint32_t rights;     /* on the object, CORDON_RIGHT() bits */
	bool listing;	     /* it was listed */
	bool moved;	     /* from or to here */
	bool tree;	     /* a directory that was: below it there is one set of rights */
	bool above_link;     /* a link below it is refused where rules tell names below it apart */
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
	bool scratch; /* work and temporary directories: what is made there has no fixed name */
	unsigned int depth; /* components above that keep their names however many there are */
	uint64_t runs;	    /* bit n: there is a run n */
};

/* -ENOMEM. */
int learn_tree_reduce(struct arena *a, struct learn_node *root, const struct learn_area *area);

#endif
