/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of an execution's processes, with each one's actions and denials. */
#ifndef CORDON_INSIGHT_TREE_H
#define CORDON_INSIGHT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "insight/story/denials.h"

#define TREE_NONE SIZE_MAX

/* Deeper processes are shown beside their parent, because a chain of forks may have any length. */
#define TREE_DEPTH_MAX 24u

enum tree_item_kind {
	TREE_EXEC,
	TREE_ACCESS, /* a denial, open or connect */
	TREE_CHILD,
};

struct tree_item {
	enum tree_item_kind kind;
	size_t index; /* TREE_ACCESS: in accesses; TREE_CHILD: in the tree's processes */
	const json_t *record;
};

struct tree_process {
	const json_t *first; /* the first record about it */
	const json_t *exec;  /* its first exec, or NULL */
	const json_t *exit;  /* or NULL */
	size_t parent;	     /* or TREE_NONE */
	unsigned int depth;
	unsigned int weight; /* of the most severe denial, with descendants */
	struct denial_groups accesses;
	struct tree_item *items;
	size_t item_count, item_capacity;
};

struct tree {
	struct tree_process *processes; /* in order of appearance */
	size_t count, capacity;
	json_t *index;
};

/*
 * Builds the tree from the records of one execution in order, which must outlive it. Returns 0 or
 * -ENOMEM.
 */
int tree_build(struct tree *tree, json_t *const *records, size_t count);
void tree_free(struct tree *tree);

/* True if it was killed at the end of the execution. */
bool tree_was_killed(const struct tree_process *process);

/* Returns its last name. Never NULL. */
const char *tree_name(const struct tree_process *process);

#endif
