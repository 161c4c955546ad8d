/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree of an execution's processes, with each one's actions and denials. */
#include "insight/story/tree.h"

#include <string.h>

#include "insight/story/clusters.h"
#include "insight/text/view.h"

void tree_free(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		denial_groups_free(&tree->processes[i].accesses);
		free(tree->processes[i].items);
	}
	free(tree->processes);
	json_decref(tree->index);
	memset(tree, 0, sizeof(*tree));
}

static size_t find(const struct tree *tree, const char *entity)
{
	const json_t *known = entity ? json_object_get(tree->index, entity) : NULL;

	return known && tree->processes ? (size_t)json_integer_value(known) : TREE_NONE;
}

static int add_item(struct tree_process *process, enum tree_item_kind kind, size_t index,
		    const json_t *record)
{
	if (!process->items || process->item_count == process->item_capacity) {
		size_t capacity = process->item_capacity ? process->item_capacity * 2 : 8;
		struct tree_item *items = reallocarray(process->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		process->items = items;
		process->item_capacity = capacity;
	}
	process->items[process->item_count++] = (struct tree_item){kind, index, record};
	return 0;
}

/* Returns the ancestor under which a process is shown. */
static size_t place_under(const struct tree *tree, size_t parent)
{
	while (parent != TREE_NONE && tree->processes[parent].depth >= TREE_DEPTH_MAX)
		parent = tree->processes[parent].parent;
	return parent;
}

static int add_process(struct tree *tree, const char *entity, const json_t *record,
		       size_t *ret_index)
{
	size_t parent =
		place_under(tree, find(tree, view_text(record, "process.parent.entity_id")));
	struct tree_process *process;

	if (!tree->processes || tree->count == tree->capacity) {
		size_t capacity = tree->capacity ? tree->capacity * 2 : 32;
		struct tree_process *grown =
			reallocarray(tree->processes, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		tree->processes = grown;
		tree->capacity = capacity;
	}
	if (json_object_set_new_nocheck(tree->index, entity,
					json_integer((json_int_t)tree->count)) < 0)
		return -ENOMEM;
	process = &tree->processes[tree->count];
	*process = (struct tree_process){.first = record, .parent = parent};
	*ret_index = tree->count++;
	if (parent == TREE_NONE)
		return 0;
	process->depth = tree->processes[parent].depth + 1;
	return add_item(&tree->processes[parent], TREE_CHILD, *ret_index, record);
}

static int add_access(struct tree_process *process, const json_t *record)
{
	size_t index;
	int is_new, r;

	if (view_is_denial(record) && denial_weight(record) > process->weight)
		process->weight = denial_weight(record);
	r = denial_groups_add(&process->accesses, record, &index, &is_new);
	if (r < 0 || !is_new)
		return r;
	return add_item(process, TREE_ACCESS, index, record);
}

static int add_record(struct tree *tree, const json_t *record)
{
	const char *entity = view_text(record, "process.entity_id");
	size_t index = find(tree, entity);
	struct tree_process *process;
	int r;

	if (!entity)
		return 0;
	if (index == TREE_NONE) {
		r = add_process(tree, entity, record, &index);
		if (r < 0)
			return r;
	}
	process = &tree->processes[index];
	if (view_is(record, "process-exit")) {
		process->exit = record;
		return 0;
	}
	if (!view_is(record, "process-exec"))
		return add_access(process, record);
	if (process->exec)
		return add_item(process, TREE_EXEC, 0, record);
	process->exec = record;
	return 0;
}

int tree_build(struct tree *tree, json_t *const *records, size_t count)
{
	*tree = (struct tree){.index = json_object()};
	if (!tree->index)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int r = add_record(tree, records[i]);

		if (r < 0) {
			tree_free(tree);
			return r;
		}
	}
	/* Parents are before their children. */
	for (size_t i = tree->count; i-- > 0;) {
		const struct tree_process *p = &tree->processes[i];

		if (p->parent != TREE_NONE && tree->processes[p->parent].weight < p->weight)
			tree->processes[p->parent].weight = p->weight;
	}
	return 0;
}

bool tree_was_killed(const struct tree_process *process)
{
	const char *name = process->exit ? view_text(process->exit, "process.signal") : NULL;

	return !process->exit || (name && strcmp(name, "SIGKILL") == 0);
}

const char *tree_name(const struct tree_process *process)
{
	const json_t *record = process->exit ? process->exit : process->first;
	const char *name;

	if (!process->exit && process->exec)
		record = process->exec;
	name = view_text(record, "process.name");
	return name ? name : "?";
}
