/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of one execution, as a tree, with what each did and was refused. */
#ifndef CORDON_INSIGHT_TREE_H
#define CORDON_INSIGHT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "insight/story/denials.h"

#define TREE_NONE SIZE_MAX

/* A process deeper than this is shown beside its parent: a chain of forks may be any length. */
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
	const json_t *first; /* the record that made it known */
	const json_t *exec;  /* its first exec, or NULL */
	const json_t *exit;  /* or NULL */
	size_t parent;	     /* or TREE_NONE */
	unsigned int depth;
	unsigned int weight; /* of the gravest denial, its descendants' included */
	struct denial_groups accesses;
	struct tree_item *items;
	size_t item_count, item_capacity;
};

struct tree {
	struct tree_process *processes; /* in order of appearance */
	size_t count, capacity;
	json_t *index;
};

/* From the records of one execution in order, borrowed as long as the tree lives. -ENOMEM. */
int tree_build(struct tree *tree, json_t *const *records, size_t count);
void tree_free(struct tree *tree);

/* Was it still there at the end, or killed? */
bool tree_was_killed(const struct tree_process *process);

/* What it was called last. Never NULL. */
const char *tree_name(const struct tree_process *process);

#endif
