/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a policy file with all of its includes into one model. */
#include "policy/source/load.h"

#include <fnmatch.h>
#include <string.h>

#include "policy/source/reader.h"
#include "policy/source/search.h"

struct loader {
	struct reader reader;
	const struct policy_search *search;
	const struct source *seen[LOAD_FILES_MAX + 1];
	size_t seen_count;
	const struct source *chain[LOAD_DEPTH_MAX + 1]; /* the files that are being read */
	size_t depth;
	const struct source
		*amended; /* the whole policy at the end of the chain, if the root amends it */
};

static bool same_file(const struct source *a, const struct source *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device;
}

static int load_tree(struct loader *l, const struct source *s);

static const char *describe_chain(struct loader *l, size_t from, const char *last)
{
	const char *text = "";

	for (size_t i = from; i < l->depth && text; i++)
		text = arena_printf(l->reader.arena, "%s%s -> ", text, l->chain[i]->name);
	return text ? arena_printf(l->reader.arena, "%s%s", text, last) : NULL;
}

static int report_missing(struct loader *l, const struct node *n, int error)
{
	struct reader *r = &l->reader;
	const char *near = error == -ENOENT ? policy_search_near(r->arena, l->search, n->text)
					    : NULL;
	const char *hint = error == -EFBIG ? "split it into several fragments"
					   : "name a policy fragment that can be read";

	if (error == -ENOENT) {
		hint = "searched: the including file's directory";
		for (size_t i = 0;
		     l->search && l->search->directories && l->search->directories[i] && hint; i++)
			hint = arena_printf(r->arena, "%s, %s", hint, l->search->directories[i]);
		if (hint && near)
			hint = arena_printf(r->arena, "did you mean \"%s\"? %s", near, hint);
		if (!hint)
			return -ENOMEM;
	}
	report_error(r->diagnostics, &n->place, hint, "cannot include \"%s\": %s", n->text,
		     error == -EFBIG ? "larger than 1 MiB" : strerror(-error));
	return 0;
}

/*
 * Reads the file named by a node. *ret_source is unchanged if there is nothing to read: the file
 * was already read, and is *ret_known, or an error was reported.
 */
static int open_named(struct loader *l, const struct source *from, const struct node *n,
		      struct source **ret_source, const struct source **ret_known)
{
	struct reader *r = &l->reader;
	struct source *s = NULL;
	const char *path, *name;
	size_t length = strlen(n->text);
	int e;

	name = length > 5 && strcmp(n->text + length - 5, ".yaml") == 0
		       ? n->text
		       : arena_printf(r->arena, "%s.yaml", n->text);
	if (!name)
		return -ENOMEM;
	e = source_find_include(r->arena, n->text, from, l->search, &path);
	if (e == 0)
		e = source_read_input(r->arena, path, name, l->search, &s);
	if (e < 0 || !s)
		return e == -ENOMEM ? e : report_missing(l, n, e);
	for (size_t i = 0; i < l->depth; i++) {
		if (!same_file(l->chain[i], s))
			continue;
		const char *chain = describe_chain(l, i, s->name);

		if (!chain)
			return -ENOMEM;
		report_error(r->diagnostics, &n->place, "remove one of these includes",
			     "files include each other: %s", chain);
		return 0;
	}
	for (size_t i = 0; i < l->seen_count; i++)
		if (same_file(l->seen[i], s)) {
			*ret_known = l->seen[i];
			return 0;
		}
	if (l->seen_count > LOAD_FILES_MAX) {
		report_error(r->diagnostics, &n->place, "join some of the files",
			     "more than %d files included", LOAD_FILES_MAX);
		return 0;
	}
	if (l->depth > LOAD_DEPTH_MAX) {
		report_error(r->diagnostics, &n->place, "include the innermost files further out",
			     "includes are nested more than %d deep", LOAD_DEPTH_MAX);
		return 0;
	}
	*ret_known = *ret_source = s;
	return 0;
}

/* *ret_source: the named file; NULL if it cannot be read, which is reported. */
static int include(struct loader *l, const struct source *from, const struct node *n,
		   const struct source **ret_source)
{
	struct reader *r = &l->reader;
	size_t errors = diagnostics_errors(r->diagnostics);
	struct source *s = NULL;
	int e;

	*ret_source = NULL;
	e = open_named(l, from, n, &s, ret_source);
	if (e < 0 || !s)
		return e;
	e = load_tree(l, s);
	if (e == 0 && errors == diagnostics_errors(r->diagnostics) && !r->model->fragment)
		report_error(r->diagnostics, &n->place,
			     "only a file with \"fragment: true\" can be included",
			     "\"%s\" is a whole policy", n->text);
	return e;
}

/*
 * Loads the policy that this file amends. The amended policy's settings and name apply, and this
 * file only adds rules.
 */
static int load_amended(struct loader *l, const struct source *from, const struct node *n)
{
	struct reader *r = &l->reader;
	size_t errors = diagnostics_errors(r->diagnostics);
	struct source *s = NULL;
	const struct source *known;
	const char *name;
	int e;

	if (!reader_string(r, n, "a policy to amend", &name))
		return 0;
	e = open_named(l, from, n, &s, &known);
	if (e < 0 || !s)
		return e;
	e = load_tree(l, s);
	if (!l->amended)
		l->amended = s;
	if (e == 0 && errors == diagnostics_errors(r->diagnostics) && r->model->fragment)
		report_error(r->diagnostics, &n->place, "include it instead",
			     "\"%s\" is a fragment, and only whole policies can be amended",
			     n->text);
	return e;
}

/*
 * Reads an include with exceptions, and marks its rules. Fragments must have none, because a
 * policy that includes two fragments relies on the deny rules of both.
 */
static int include_except(struct loader *l, const struct source *from, const struct node *root,
			  const struct node *n)
{
	struct reader *r = &l->reader;
	const struct source *source;
	size_t errors = diagnostics_errors(r->diagnostics);
	struct rule *rule = NULL;
	int e;

	if (n->count != 2 || n->items[1]->type != NODE_MAPPING) {
		report_error(r->diagnostics, &n->place, EXCEPT_HINT,
			     "an include is a file's name, or one name with exceptions");
		return 0;
	}
	if (node_get(root, "fragment")) {
		report_error(r->diagnostics, &n->place,
			     "move it to the policies that include this file",
			     "a fragment must not set \"except\"");
		return 0;
	}
	if (r->model->except) {
		report_error(r->diagnostics, &n->place,
			     "list the names in one include, or narrow the rule",
			     "another include of this policy has exceptions, at %s:%u",
			     r->model->except->place.source->name, r->model->except->place.line);
		return 0;
	}
	e = read_exceptions(r, n, &rule);
	if (e < 0 || !rule)
		return e;
	e = include(l, from, n->items[0], &source);
	if (e < 0 || errors != diagnostics_errors(r->diagnostics) || !source)
		return e;
	return add_exceptions(r, rule, source);
}

static int load_includes(struct loader *l, const struct source *s, const struct node *root)
{
	const struct node *list = root->type == NODE_MAPPING ? node_get(root, "include") : NULL;

	if (!list || !reader_expect(&l->reader, list, NODE_SEQUENCE, "a list",
				    "write include: [runtime/linux]"))
		return 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct node *n = list->items[i];
		const struct source *source;
		const char *name;
		int e = 0;

		if (n->type == NODE_MAPPING)
			e = include_except(l, s, root, n);
		else if (reader_string(&l->reader, n, "a file to include", &name))
			e = include(l, s, n, &source);
		if (e < 0)
			return e;
	}
	return 0;
}

static int load_tree(struct loader *l, const struct source *s)
{
	struct reader *r = &l->reader;
	const struct node *amends = NULL;
	struct node *root = NULL;
	int e;

	l->seen[l->seen_count++] = s;
	l->chain[l->depth++] = s;
	e = node_parse(r->arena, s, r->diagnostics, &root);
	if (e == 0 && !root)
		report_error(r->diagnostics, &(struct place){s, 1, 1}, "start with version: 1",
			     "the file is empty");
	if (e == 0 && root && root->type == NODE_MAPPING)
		amends = node_get(root, "amends");
	if (e == 0 && amends)
		e = load_amended(l, s, amends);
	if (e == 0 && root)
		e = load_includes(l, s, root);
	if (e == 0 && root)
		e = read_policy(r, root);
	/*
	 * It was read like a fragment, but together with the amended policy it is a whole policy.
	 */
	if (amends)
		r->model->fragment = false;
	l->depth--;
	return e == -ENOMEM ? e : 0;
}

/* The caller's variables that an execution inherits by default. */
static const char *const default_keep[] = {"PATH", "HOME", "LANG", "LC_*",
					   "TERM", "TZ",   "USER", "LOGNAME"};

static int apply_defaults(struct arena *a, const struct source *root, struct model *m)
{
	if (!m->name) {
		const char *slash = strrchr(root->name, '/');
		const char *base = slash ? slash + 1 : root->name;
		size_t length = strlen(base);

		if (length > 5 && strcmp(base + length - 5, ".yaml") == 0)
			length -= 5;
		m->name = arena_copy(a, base, length);
		if (!m->name)
			return -ENOMEM;
	}
	for (size_t i = 0; !m->keep_given && !m->observe && i < ARRAY_SIZE(default_keep); i++) {
		const char **keep = arena_grow(a, m->keep, m->keep_count, sizeof(*keep));

		if (!keep)
			return -ENOMEM;
		keep[m->keep_count++] = default_keep[i];
		m->keep = keep;
	}
	return 0;
}

/* Warns about a `keep` list without PATH, which programs need to find others. */
static void warn_of_path(const struct model *m, struct diagnostics *d)
{
	bool found = !m->keep_given || m->keep_count == 0;

	for (size_t i = 0; i < m->keep_count; i++)
		found |= fnmatch(m->keep[i], "PATH", 0) == 0;
	for (size_t i = 0; i < m->set_count; i++)
		found |= strcmp(m->set_names[i], "PATH") == 0;
	if (!found)
		report_warning(d, &m->keep_place, "add PATH to the list, or to set:",
			       "PATH is not kept: programs are not found by their names");
}

int load_model(struct arena *a, const struct source *root, const struct policy_search *search,
	       struct diagnostics *d, struct model **ret_model)
{
	struct model *m = arena_alloc(a, sizeof(*m));
	struct loader l = {.reader = {a, d, m}, .search = search};
	size_t errors = diagnostics_errors(d);
	int e;

	if (!m)
		return -ENOMEM;
	m->anchors[CORDON_ANCHOR_WORKDIR] = "workdir";
	m->anchors[CORDON_ANCHOR_TMP] = "tmp";
	m->anchors[CORDON_ANCHOR_HOME] = "home";
	m->audit = CORDON_AUDIT_ALL << CORDON_AUDIT_CONNECTS_SHIFT |
		   CORDON_AUDIT_ALL << CORDON_AUDIT_EXECS_SHIFT;
	e = load_tree(&l, root);
	if (e < 0)
		return e;
	if (errors != diagnostics_errors(d))
		return -EINVAL;
	warn_of_path(m, d);
	e = apply_defaults(a, l.amended ? l.amended : root, m);
	if (e < 0)
		return e;
	*ret_model = m;
	return 0;
}
