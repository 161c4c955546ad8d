/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps accessed names as a tree of patterns, and reduces it. */
#include "insight/learn/learn_tree.h"

#include <string.h>

#include "bpf/abi.h"
#include "insight/learn/learn_names.h"

/*
 * With this many similar names in one directory, a pattern replaces them: where the run makes
 * files, and elsewhere.
 */
#define MANY_SCRATCH 4u
#define MANY	     8u
/* The limit for one directory: a policy of thousands of names is not readable. */
#define TOO_MANY 256u

#define MAKING                                                                                     \
	(CORDON_RIGHT(CORDON_WRITE) | CORDON_RIGHT(CORDON_CREATE) | CORDON_RIGHT(CORDON_DELETE))

void evidence_add(struct evidence *e, const struct evidence *more)
{
	if (!more->count)
		return;
	e->others |= more->others ||
		     (e->program && more->program && strcmp(e->program, more->program) != 0);
	if (!e->count || more->record < e->record) {
		e->record = more->record;
		e->program = more->program;
	}
	e->count += more->count;
}

struct learn_node *learn_tree_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct learn_node));
}

struct learn_node *learn_tree_child(struct arena *a, struct learn_node *parent, const char *pattern)
{
	struct learn_node **end = &parent->children;

	for (; *end; end = &(*end)->next)
		if (strcmp((*end)->pattern, pattern) == 0)
			return *end;
	*end = learn_tree_new(a);
	if (*end)
		(*end)->pattern = pattern;
	return *end;
}

static void merge_nodes(struct learn_node *into, struct learn_node *from);

/* Takes ownership of another node's children. */
static void merge_children(struct learn_node *into, struct learn_node *children)
{
	while (children) {
		struct learn_node *child = children, **end = &into->children;

		children = child->next;
		child->next = NULL;
		while (*end && strcmp((*end)->pattern, child->pattern) != 0)
			end = &(*end)->next;
		if (*end)
			merge_nodes(*end, child);
		else
			*end = child;
	}
}

static void merge_nodes(struct learn_node *into, struct learn_node *from)
{
	into->rights |= from->rights;
	into->listing |= from->listing;
	into->moved |= from->moved;
	into->tree |= from->tree;
	into->above_link |= from->above_link;
	into->runs |= from->runs;
	evidence_add(&into->evidence, &from->evidence);
	merge_children(into, from->children);
}

/* Collects everything below into one set of rights. */
static void collect(const struct learn_node *node, struct learn_node *all)
{
	for (const struct learn_node *c = node->children; c; c = c->next) {
		all->rights |= c->rights;
		if (c->listing)
			all->rights |= CORDON_RIGHT(CORDON_READ);
		all->runs |= c->runs;
		evidence_add(&all->evidence, &c->evidence);
		collect(c, all);
	}
}

static int flatten(struct arena *a, struct learn_node *node, uint32_t rights)
{
	struct learn_node *all = learn_tree_new(a);

	if (!all)
		return -ENOMEM;
	all->pattern = "**";
	all->rights = rights;
	all->runs = node->runs;
	collect(node, all);
	if (!all->evidence.count)
		all->evidence = node->evidence;
	node->children = all;
	return 0;
}

/* --- names that vary ---------------------------------------------------------------------- */

/* The part from the last dot on. */
static const char *suffix_of(const char *pattern)
{
	const char *dot = strrchr(pattern, '.');

	return dot && dot != pattern ? dot : "";
}

static bool are_alike(const struct learn_node *x, const struct learn_node *y)
{
	return x->rights == y->rights && x->listing == y->listing && x->tree == y->tree &&
	       !x->children == !y->children;
}

/* True if only some runs have the name. */
static bool varies(const struct learn_node *node, uint64_t runs)
{
	return node->runs != runs && node->pattern[0] != '*';
}

/* Merges the children that are marked in `chosen` into one with this pattern. */
static int replace_children(struct arena *a, struct learn_node *parent, const bool *chosen,
			    const char *pattern)
{
	struct learn_node *kept = NULL, **end = &kept, *merged, *next;
	size_t i = 0;

	merged = learn_tree_new(a);
	if (!merged || !pattern)
		return -ENOMEM;
	merged->pattern = pattern;
	for (struct learn_node *c = parent->children; c; c = next, i++) {
		next = c->next;
		c->next = NULL;
		if (chosen[i] || strcmp(c->pattern, pattern) == 0) {
			merge_nodes(merged, c);
		} else {
			*end = c;
			end = &c->next;
		}
	}
	*end = merged;
	parent->children = kept;
	return 0;
}

static size_t count_children(const struct learn_node *node)
{
	size_t count = 0;

	for (const struct learn_node *c = node->children; c; c = c->next)
		count++;
	return count;
}

struct selection {
	bool *chosen;
	const char **patterns;
	size_t count;
	uint64_t runs;
};

/* Selects the children that vary like `model`: similar, and with the same suffix. */
static void select_varying(const struct learn_node *parent, const struct learn_node *model,
			   uint64_t runs, struct selection *s)
{
	size_t i = 0;

	s->count = 0;
	s->runs = 0;
	for (const struct learn_node *c = parent->children; c; c = c->next, i++) {
		s->chosen[i] = varies(c, runs) && are_alike(c, model) &&
			       strcmp(suffix_of(c->pattern), suffix_of(model->pattern)) == 0;
		if (!s->chosen[i])
			continue;
		s->patterns[s->count++] = c->pattern;
		s->runs |= c->runs;
	}
}

static void select_alike(const struct learn_node *parent, const struct learn_node *model,
			 struct selection *s)
{
	size_t i = 0;

	s->count = 0;
	for (const struct learn_node *c = parent->children; c; c = c->next, i++) {
		s->chosen[i] = are_alike(c, model);
		s->count += s->chosen[i];
	}
}

static int select_new(struct arena *a, const struct learn_node *node, struct selection *ret)
{
	size_t count = count_children(node);

	ret->chosen = arena_alloc(a, (count + 1) * sizeof(*ret->chosen));
	ret->patterns = arena_alloc(a, (count + 1) * sizeof(*ret->patterns));
	return ret->chosen && ret->patterns ? 0 : -ENOMEM;
}

static int reduce_varying(struct arena *a, struct learn_node *node, const struct learn_area *area)
{
	struct selection s = {0};
	const char *pattern;
	int r = 0;

	if (!(area->runs & (area->runs - 1)))
		return 0;
	r = select_new(a, node, &s);
	for (struct learn_node *c = node->children, *next; r == 0 && c; c = next) {
		next = c->next;
		if (!varies(c, area->runs))
			continue;
		select_varying(node, c, area->runs, &s);
		/*
		 * Several runs must have one name each. Otherwise the same program may have done
		 * more in one of them.
		 */
		if (s.count < 2 || !(s.runs & (s.runs - 1)))
			continue;
		pattern = learn_common(a, s.patterns, s.count);
		if (!pattern)
			return -ENOMEM;
		/*
		 * Names without a common part would match everything; only files that the run makes
		 * may be that general.
		 */
		if (strlen(pattern) < 3 && !(area->scratch && c->rights & MAKING))
			continue;
		r = replace_children(a, node, s.chosen, pattern);
		next = r == 0 ? node->children : NULL;
		if (r == 0)
			r = select_new(a, node, &s);
	}
	return r;
}

/* --- many names --------------------------------------------------------------------------- */

static int reduce_many(struct arena *a, struct learn_node *node, const struct learn_area *area)
{
	struct selection s = {0};
	int r = select_new(a, node, &s);

	for (struct learn_node *c = node->children; r == 0 && c; c = c->next) {
		size_t many = area->scratch && c->rights & MAKING ? MANY_SCRATCH : MANY;

		if (strcmp(c->pattern, "**") == 0)
			continue;
		select_alike(node, c, &s);
		if (s.count >= many)
			return replace_children(a, node, s.chosen, "*");
	}
	return r;
}

/* Drops names that a "*" in the same directory already covers. */
static void drop_covered(struct learn_node *node)
{
	struct learn_node *star = NULL, **at = &node->children;

	for (struct learn_node *c = node->children; c; c = c->next)
		if (strcmp(c->pattern, "*") == 0)
			star = c;
	while (star && *at) {
		struct learn_node *c = *at;

		if (c == star || c->children || c->tree || (c->rights & ~star->rights) ||
		    (c->listing && !(star->rights & CORDON_RIGHT(CORDON_READ)) && !star->listing)) {
			at = &c->next;
			continue;
		}
		evidence_add(&star->evidence, &c->evidence);
		*at = c->next;
	}
}

/*
 * A symbolic link is only allowed if rules treat names below it the same as names below any other,
 * at any depth (policy_judge_path()). So a pattern that may match a link gets one set of rights for
 * itself and everything below.
 */
static int level_below_links(struct arena *a, struct learn_node *node)
{
	int r = 0;

	for (struct learn_node *c = node->children; r == 0 && c; c = c->next) {
		if (!learn_is_wild(c->pattern) || (!c->children && !c->listing))
			continue;
		if (c->listing)
			c->rights |= CORDON_RIGHT(CORDON_READ);
		r = flatten(a, c, c->rights);
		if (r == 0)
			c->rights = c->children->rights;
	}
	return r;
}

static size_t count_below(const struct learn_node *node)
{
	size_t count = 0;

	for (const struct learn_node *c = node->children; c; c = c->next)
		count += 1 + count_below(c);
	return count;
}

static int reduce(struct arena *a, struct learn_node *node, const struct learn_area *area,
		  unsigned int depth)
{
	int r = 0;

	if (node->tree || (node->moved && node->children))
		return flatten(a, node, node->rights);
	if (depth >= area->depth) {
		r = reduce_varying(a, node, area);
		if (r == 0)
			r = reduce_many(a, node, area);
	}
	if (r == 0 && node->above_link)
		r = level_below_links(a, node);
	for (struct learn_node *c = node->children; r == 0 && c; c = c->next)
		r = reduce(a, c, area, depth + 1);
	drop_covered(node);
	if (r == 0 && depth >= area->depth && count_below(node) > TOO_MANY)
		r = flatten(a, node, 0);
	return r;
}

int learn_tree_reduce(struct arena *a, struct learn_node *root, const struct learn_area *area)
{
	return reduce(a, root, area, 0);
}
