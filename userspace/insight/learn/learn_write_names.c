/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rules for named objects: files, programs and unix sockets. */
#include <fnmatch.h>
#include <string.h>

#include "insight/learn/learn_names.h"
#include "insight/learn/learn_write_parts.h"
#include "policy/core/vector.h"

#define FILE_RIGHTS (CORDON_FILE_RIGHTS & ~CORDON_RIGHT(CORDON_METADATA))

static void add_line(struct writer *w, const char *prefix, const char *suffix, uint32_t rights,
		     const struct evidence *evidence)
{
	char *pattern = NULL;

	if (!rights || w->failed)
		return;
	if (asprintf(&pattern, "%s%s", prefix, suffix) < 0 ||
	    vector_reserve(&w->lines, &w->capacity, w->count + 1) < 0) {
		free(pattern);
		w->failed = true;
		return;
	}
	w->lines[w->count++] = (struct line){pattern, rights, evidence};
}

static void collect(struct writer *w, const struct learn_node *node, const char *path)
{
	bool root = !*path;

	add_line(w, root ? "/" : path, "", node->rights, &node->evidence);
	/* "/x" with read also grants the listing of a directory with that name. */
	if (node->listing && !(node->rights & CORDON_RIGHT(CORDON_READ)))
		add_line(w, path, "/", CORDON_RIGHT(CORDON_READ), &node->evidence);
	for (const struct learn_node *c = node->children; c; c = c->next) {
		_cleanup_(freep) char *below = NULL;

		if (asprintf(&below, "%s/%s", path, c->pattern) < 0)
			w->failed = true;
		else
			collect(w, c, below);
	}
}

static void collect_scope(struct writer *w, const struct learn_scope *s)
{
	_cleanup_(freep) char *variable = NULL;

	if (strcmp(s->variable, "@") == 0) {
		for (const struct learn_node *c = s->tree->children; c; c = c->next)
			add_line(w, c->pattern, "", c->rights, &c->evidence);
	} else if (!*s->variable) {
		collect(w, s->tree, "");
	} else if (asprintf(&variable, "${%s}", s->variable) < 0) {
		w->failed = true;
	} else {
		collect(w, s->tree, variable);
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->pattern, y->pattern);
}

static void drop_lines(struct writer *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->lines[i].pattern);
	w->count = 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* True if a pattern of the form that is written here matches the name. */
static bool pattern_matches(const char *pattern, const char *name)
{
	_cleanup_(freep) char *above = NULL;
	const char *slash = name;
	bool found = false;

	if (!ends_with(pattern, "/**"))
		return fnmatch(pattern, name, FNM_PATHNAME) == 0;
	above = strndup(pattern, strlen(pattern) - strlen("/**"));
	while (above && !found && (slash = strchr(slash + 1, '/'))) {
		_cleanup_(freep) char *head = strndup(name, (size_t)(slash - name));

		found = head && fnmatch(above, head, FNM_PATHNAME) == 0;
	}
	return found;
}

/* The rights of a line that a line with wildcards also grants. */
static uint32_t covered_rights(const struct line *line, const struct line *by)
{
	_cleanup_(freep) char *name = NULL;
	char *to;

	if (!(line->rights & by->rights) || !learn_is_wild(by->pattern) ||
	    learn_is_wild(line->pattern))
		return 0;
	to = name = strdup(line->pattern);
	/* Unescapes the pattern to get the name; it has no wildcards. */
	for (const char *from = line->pattern; name && *from; from++) {
		from += *from == '\\' && from[1];
		*to++ = *from;
	}
	if (!name)
		return 0;
	*to = '\0';
	if (!pattern_matches(by->pattern, name) && to > name + 1 && to[-1] == '/')
		to[-1] = '\0';
	return pattern_matches(by->pattern, name) ? line->rights & by->rights : 0;
}

static void drop_covered(struct writer *w)
{
	for (size_t i = 0; i < w->count; i++)
		for (size_t j = 0; j < w->count; j++)
			w->lines[i].rights &= ~covered_rights(&w->lines[i], &w->lines[j]);
}

/* Writes a rule for each set of rights in `section`. */
static void put_rules(struct writer *w, uint32_t section, const char *key)
{
	for (size_t i = 0; i < w->count; i++) {
		uint32_t rights = w->lines[i].rights & section;
		bool first = rights != 0;

		for (size_t j = 0; j < i && first; j++)
			first = (w->lines[j].rights & section) != rights;
		if (!first)
			continue;
		fputs("  - allow: ", w->out);
		learn_put_rights(w->out, rights);
		if (rights & CORDON_RIGHT(CORDON_LINKS))
			fputs("\n    links: shared", w->out);
		fprintf(w->out, "\n    %s:\n", key);
		for (size_t j = i; j < w->count; j++) {
			if ((w->lines[j].rights & section) != rights)
				continue;
			fputs("      - ", w->out);
			learn_put_scalar(w->out, w->lines[j].pattern);
			learn_put_evidence(w, w->lines[j].evidence);
		}
	}
}

static bool has_rights(const struct writer *w, uint32_t section)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->lines[i].rights & section)
			return true;
	return false;
}

void learn_put_names(struct writer *w)
{
	for (const struct learn_scope *s = w->l->scopes; s; s = s->next)
		collect_scope(w, s);
	if (w->count)
		qsort(w->lines, w->count, sizeof(*w->lines), compare_lines);
	drop_covered(w);
	if (has_rights(w, FILE_RIGHTS)) {
		fputs("\nfiles:\n", w->out);
		put_rules(w, FILE_RIGHTS, "paths");
	}
	if (has_rights(w, CORDON_EXEC_RIGHTS)) {
		fputs("\nexec:\n", w->out);
		put_rules(w, CORDON_EXEC_RIGHTS, "paths");
	}
	if (has_rights(w, CORDON_UNIX_RIGHTS) || w->l->abstract->children)
		fputs("\nunix:\n", w->out);
	put_rules(w, CORDON_UNIX_RIGHTS, "paths");
	drop_lines(w);
	for (const struct learn_node *c = w->l->abstract->children; c; c = c->next)
		add_line(w, c->pattern, "", c->rights, &c->evidence);
	put_rules(w, CORDON_UNIX_RIGHTS, "abstract");
	drop_lines(w);
}
