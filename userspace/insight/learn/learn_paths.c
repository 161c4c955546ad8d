/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects names in trees of patterns, one per variable.
 *
 * A move must not widen: the new name may grant nothing that the old one does not. So all names
 * that a run moves objects from or to get one set of rights, and so does everything below
 * directories that it moves.
 */
#include <string.h>

#include "insight/learn/learn_names.h"
#include "insight/learn/learn_state.h"

struct evidence learn_evidence(const struct recorded_access *a)
{
	return (struct evidence){.count = a->count, .record = a->record, .program = a->program};
}

/* --- files that runs made and moved ----------------------------------------------------------- */

static int mark(json_t *set, const struct recorded_access *a)
{
	_cleanup_(freep) char *key = NULL;

	if (asprintf(&key, "%zu%s", a->run, a->bytes) < 0)
		return -ENOMEM;
	return json_object_set_new_nocheck(set, key, json_true()) < 0 ? -ENOMEM : 0;
}

/* True if the first `size` bytes of the name are in the set. */
static bool is_marked(const json_t *set, const struct recorded_access *a, size_t size)
{
	_cleanup_(freep) char *key = NULL;

	return asprintf(&key, "%zu%.*s", a->run, (int)size, a->bytes) >= 0 &&
	       json_object_get(set, key);
}

/* True if the name or a directory above it is in the set. */
static bool is_marked_above(const json_t *set, const struct recorded_access *a)
{
	for (size_t i = a->size; i > 0; i--)
		if ((i == a->size || a->bytes[i] == '/') && is_marked(set, a, i))
			return true;
	return false;
}

static bool is_wanted_path(const struct learning *l, size_t i)
{
	return l->accesses[i].kind == ACCESS_PATH && l->fates[i] == LEARN_WANTED;
}

bool learn_is_moved(const struct learning *l, const struct recorded_access *a)
{
	return a->kind == ACCESS_PATH && is_marked(l->moves, a, a->size);
}

int learn_mark_link(const struct learning *l, const struct recorded_access *a)
{
	int r;

	if (is_marked(l->links, a, a->size))
		return 0;
	r = mark(l->links, a);
	return r < 0 ? r : 1;
}

static int find_made(struct learning *l, uint32_t *linked)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->access_count; i++) {
		const struct recorded_access *a = &l->accesses[i];

		if (!is_wanted_path(l, i))
			continue;
		if (a->rights & CORDON_RIGHT(CORDON_CREATE))
			r = mark(l->created, a);
		if (r == 0 && (a->operation == CORDON_OP_RENAME || a->operation == CORDON_OP_LINK))
			r = mark(l->moves, a);
		linked[a->run] |= a->operation == CORDON_OP_LINK;
	}
	return r;
}

/*
 * Only the new name of a hard link is logged. Programs that use a link to put a file in place
 * delete the old name afterwards. So names that the run both made and deleted are treated as such
 * old names.
 */
static int find_link_sources(struct learning *l, const uint32_t *linked)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < l->access_count; i++) {
		const struct recorded_access *a = &l->accesses[i];

		if (linked[a->run] && is_wanted_path(l, i) &&
		    a->rights & CORDON_RIGHT(CORDON_DELETE) && is_marked(l->created, a, a->size))
			r = mark(l->moves, a);
	}
	return r;
}

static int find_moves(struct learning *l)
{
	uint32_t *linked = arena_alloc(l->arena, l->run_count * sizeof(*linked));
	int r = linked ? find_made(l, linked) : -ENOMEM;

	if (r == 0)
		r = find_link_sources(l, linked);
	if (r < 0 || json_object_size(l->moves) == 0)
		return r;
	for (size_t i = 0; i < l->access_count; i++)
		if (is_wanted_path(l, i) && is_marked_above(l->moves, &l->accesses[i]))
			l->moved[l->accesses[i].run] |= l->accesses[i].rights;
	return 0;
}

/* --- trees ---------------------------------------------------------------------------------- */

static struct learn_scope *find_scope(struct learning *l, const char *variable)
{
	struct learn_scope **end = &l->scopes;

	for (; *end; end = &(*end)->next)
		if (strcmp((*end)->variable, variable) == 0)
			return *end;
	*end = arena_alloc(l->arena, sizeof(**end));
	if (!*end)
		return NULL;
	(*end)->variable = variable;
	(*end)->tree = learn_tree_new(l->arena);
	return (*end)->tree ? *end : NULL;
}

/* The innermost variable above a name, and the offset of the rest. */
static const char *find_variable(const struct recorded_run *run, const struct recorded_access *a,
				 size_t *ret_begin)
{
	const char *variable = "";
	size_t begin = 0;

	for (size_t i = 0; i < run->directory_count; i++) {
		const char *path = run->directories[i].path;
		size_t n = strlen(path);

		if (n == 0 || n < begin || n > a->size || memcmp(a->bytes, path, n) != 0 ||
		    (n < a->size && a->bytes[n] != '/'))
			continue;
		variable = run->directories[i].name;
		begin = n;
	}
	*ret_begin = begin;
	return variable;
}

static bool is_scratch(const char *variable)
{
	return strcmp(variable, "workdir") == 0 || strcmp(variable, "tmp") == 0;
}

static bool is_numbered(const struct recorded_access *a)
{
	return strncmp(a->bytes, "/proc/", 6) == 0 || strncmp(a->bytes, "/dev/", 5) == 0;
}

static uint64_t run_bit(size_t run)
{
	return 1ull << (run < 63 ? run : 63);
}

/* Follows the components from `at`; every node on the way records the run. */
static struct learn_node *descend(struct learning *l, struct learn_node *node,
				  const struct recorded_access *a, size_t at, const char *variable)
{
	unsigned int always = (is_scratch(variable) ? 0 : LEARN_INSTALLED) |
			      (is_numbered(a) ? LEARN_NUMBERED : 0);
	bool link = is_marked(l->links, a, a->size);

	node->runs |= run_bit(a->run);
	while (node && at < a->size) {
		size_t begin = at + 1;
		const char *pattern;

		for (at = begin; at < a->size && a->bytes[at] != '/';)
			at++;
		if (at == begin)
			continue;
		pattern =
			learn_pattern(l->arena, a->bytes + begin, at - begin,
				      always | (is_marked(l->created, a, at) ? LEARN_CREATED : 0));
		node->above_link |= link;
		node = pattern ? learn_tree_child(l->arena, node, pattern) : NULL;
		if (node)
			node->runs |= run_bit(a->run);
	}
	return node;
}

static int add_path(struct learning *l, size_t i)
{
	const struct recorded_access *a = &l->accesses[i];
	struct evidence e = learn_evidence(a);
	struct learn_scope *scope;
	struct learn_node *node;
	const char *variable;
	size_t begin;

	variable = find_variable(&l->runs[a->run], a, &begin);
	scope = find_scope(l, variable);
	node = scope ? descend(l, scope->tree, a, begin, variable) : NULL;
	if (!node)
		return -ENOMEM;
	if (a->listing)
		node->listing = true;
	else
		node->rights |= l->missing[i];
	if (is_marked(l->moves, a, a->size)) {
		node->rights |= l->moved[a->run];
		node->moved = true;
		node->tree |= a->operation == CORDON_OP_MKDIR;
	}
	/* The directory was denied, so that no access below it was tried. */
	node->tree |= l->amended && a->operation == CORDON_OP_MKDIR;
	evidence_add(&node->evidence, &e);
	return 0;
}

static int add_special(struct learning *l, size_t i)
{
	struct evidence e = learn_evidence(&l->accesses[i]);
	struct learn_scope *scope = find_scope(l, "@");
	struct learn_node *node =
		scope ? learn_tree_child(l->arena, scope->tree, l->accesses[i].bytes) : NULL;

	if (!node)
		return -ENOMEM;
	node->rights |= l->missing[i];
	evidence_add(&node->evidence, &e);
	return 0;
}

static int add_abstract(struct learning *l, size_t i)
{
	const struct recorded_access *a = &l->accesses[i];
	struct evidence e = learn_evidence(a);
	bool bound = a->rights & CORDON_RIGHT(CORDON_UNIX_BIND);
	const char *pattern = learn_pattern(l->arena, a->bytes, a->size, bound ? LEARN_CREATED : 0);
	struct learn_node *node = pattern ? learn_tree_child(l->arena, l->abstract, pattern) : NULL;

	if (!node)
		return -ENOMEM;
	node->rights |= l->missing[i];
	evidence_add(&node->evidence, &e);
	return 0;
}

static int reduce_scope(struct learning *l, struct learn_scope *scope)
{
	struct learn_area area = {
		.scratch = is_scratch(scope->variable),
		.depth = !*scope->variable			? 3
			 : strcmp(scope->variable, "home") == 0 ? 1
								: 0,
	};

	for (size_t run = 0; run < l->run_count; run++)
		area.runs |= run_bit(run);
	/* The temporary directory is made for each execution and is removed with it. */
	if (strcmp(scope->variable, "tmp") == 0 && scope->tree->children)
		scope->tree->tree = true;
	return learn_tree_reduce(l->arena, scope->tree, &area);
}

int learn_paths(struct learning *l)
{
	int r;

	/* Start again: rights may have been added to `moved`. */
	l->scopes = NULL;
	r = find_moves(l);
	l->abstract = learn_tree_new(l->arena);
	if (!l->abstract)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < l->access_count; i++) {
		bool moved = learn_is_moved(l, &l->accesses[i]);

		if (l->fates[i] != LEARN_WANTED || (!l->missing[i] && !moved))
			continue;
		if (l->accesses[i].kind == ACCESS_PATH)
			r = add_path(l, i);
		else if (l->accesses[i].kind == ACCESS_SPECIAL)
			r = add_special(l, i);
		else if (l->accesses[i].kind == ACCESS_ABSTRACT)
			r = add_abstract(l, i);
	}
	for (struct learn_scope *s = l->scopes; r == 0 && s; s = s->next)
		if (strcmp(s->variable, "@") != 0)
			r = reduce_scope(l, s);
	return r;
}
