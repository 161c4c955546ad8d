/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns about patterns that never match because of this host's symbolic links, or that match a
 * directory without its contents.
 */
#include "policy/source/host_paths.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* The number of alternatives of one pattern that are checked. */
#define EXPANSIONS_MAX 64u

#define USE_RIGHTS                                                                                 \
	(CORDON_RIGHT(CORDON_READ) | CORDON_RIGHT(CORDON_WRITE) | CORDON_RIGHT(CORDON_RUN) |       \
	 CORDON_RIGHT(CORDON_MAP) | CORDON_RIGHT(CORDON_UNIX_CONNECT))

struct paths {
	const char *items[EXPANSIONS_MAX];
	size_t count;
};

/* The position after the closing brace; NULL: there is none. */
static const char *brace_end(const char *open)
{
	size_t depth = 0;

	for (const char *at = open; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Expands the braces of a pattern into all alternatives. */
static int expand(struct arena *a, const char *pattern, struct paths *ret)
{
	const char *open = strchr(pattern, '{'), *end = open ? brace_end(open) : NULL, *from;
	size_t depth = 0;

	if (!end) {
		if (ret->count < EXPANSIONS_MAX)
			ret->items[ret->count++] = pattern;
		return 0;
	}
	from = open + 1;
	for (const char *at = from; at < end; at++) {
		const char *one;
		int e;

		if (*at == '{')
			depth++;
		if (*at == '}' && at < end - 1)
			depth--;
		if (depth > 0 || (*at != ',' && at < end - 1))
			continue;
		one = arena_printf(a, "%.*s%.*s%s", (int)(open - pattern), pattern,
				   (int)(at - from), from, end);
		e = one ? expand(a, one, ret) : -ENOMEM;
		if (e < 0)
			return e;
		from = at + 1;
	}
	return 0;
}

static bool is_literal(const char *text)
{
	return !strpbrk(text, "*?[\\{$");
}

/*
 * True if a pattern without braces matches the name, so that no warning is needed. A deny also
 * matches names below it.
 */
static bool covers(const char *pattern, const char *name, bool deny)
{
	size_t length = strlen(pattern);

	if (strcmp(pattern, name) == 0 ||
	    (deny && strncmp(pattern, name, length) == 0 && name[length] == '/'))
		return true;
	/*
	 * With "**" this matches more than the kernel's matcher: rather no warning than a wrong
	 * one.
	 */
	return fnmatch(pattern, name, strstr(pattern, "**") ? 0 : FNM_PATHNAME) == 0;
}

/* 1: a rule with the same effect matches this name. `rights`: it must have all of them. */
static int has_rule(struct arena *a, const struct model *m, const struct rule *like,
		    uint32_t rights, const char *name)
{
	for (size_t i = 0; i < m->rule_count; i++) {
		const struct rule *rule = m->rules[i];

		if (rule->deny != like->deny || rule->except != like->except ||
		    (rule->rights & rights) != rights)
			continue;
		for (size_t k = 0; k < rule->name_count; k++) {
			struct paths paths = {};
			int e = expand(a, rule->names[k].text, &paths);

			if (e < 0)
				return e;
			for (size_t p = 0; p < paths.count; p++)
				if (covers(paths.items[p], name, rule->deny))
					return 1;
		}
	}
	return 0;
}

/*
 * Finds the first component of the pattern's literal prefix that is a symbolic link. Returns the
 * prefix's length up to it; 0: there is none.
 */
static size_t find_link(const char *pattern, char link[PATH_MAX])
{
	size_t end = 0;

	while (pattern[end] == '/') {
		struct stat status;

		end += 1 + strcspn(pattern + end + 1, "/");
		if (end >= PATH_MAX)
			return 0;
		memcpy(link, pattern, end);
		link[end] = '\0';
		if (!is_literal(link) || lstat(link, &status) < 0)
			return 0;
		if (S_ISLNK(status.st_mode))
			return end;
	}
	return 0;
}

/* Warns about a name with a symbolic link in its path: no object has such a name. */
static int look_at_link(struct arena *a, const struct model *m, const struct rule *rule,
			const struct rule_name *name, const char *pattern, struct diagnostics *d)
{
	char link[PATH_MAX], target[PATH_MAX], whole[PATH_MAX];
	size_t end = find_link(pattern, link);
	const char *meant;
	bool last = end > 0 && !pattern[end];
	int e;

	/*
	 * A rule for the link itself makes sense: links are deleted and replaced by their own
	 * names.
	 */
	if (end == 0 || strncmp(pattern, "/proc/", 6) == 0 || !realpath(link, target) ||
	    (last && !(rule->rights & USE_RIGHTS)))
		return 0;
	if (is_literal(pattern) && realpath(pattern, whole))
		meant = arena_printf(a, "%s", whole);
	else
		meant = arena_printf(a, "%s%s", strcmp(target, "/") == 0 ? "" : target,
				     pattern + end);
	e = meant ? has_rule(a, m, rule, last ? rule->rights & USE_RIGHTS : rule->rights, meant)
		  : -ENOMEM;
	if (e != 0)
		return e < 0 ? e : 0;
	meant = arena_printf(a, "write \"%s\": rules know objects by their own names", meant);
	if (!meant)
		return -ENOMEM;
	report_warning(d, &name->place, meant,
		       last ? "on this host %s is a symbolic link to %s: the kernel "
			      "does not use the name \"%s\""
			    : "on this host %s is a symbolic link to %s: nothing is called \"%s\"",
		       link, target, pattern);
	return 0;
}

/* Warns about a directory that is granted without its contents. */
static int look_at_directory(struct arena *a, const struct model *m, const struct rule *rule,
			     const struct rule_name *name, const char *pattern,
			     struct diagnostics *d)
{
	size_t length = strlen(pattern);
	uint32_t rights = rule->rights & USE_RIGHTS;
	const char *inside, *hint;
	struct stat status;
	int e;

	/* "/" or "/." at the end shows that this is intended. */
	if (rule->deny || !rights || length < 2 || strchr("/.", pattern[length - 1]) ||
	    !is_literal(pattern) || lstat(pattern, &status) < 0 || !S_ISDIR(status.st_mode))
		return 0;
	inside = arena_printf(a, "%s/x", pattern);
	hint = arena_printf(a, "add \"%s/**\" for its contents, or write \"%s/\" for its listing",
			    pattern, pattern);
	if (!inside || !hint)
		return -ENOMEM;
	/* If any other rule covers the contents, this is intended. */
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		if (!(rights & CORDON_RIGHT(right)))
			continue;
		e = has_rule(a, m, rule, CORDON_RIGHT(right), inside);
		if (e != 0)
			return e < 0 ? e : 0;
	}
	report_note(d, &name->place, hint,
		    "\"%s\" is a directory on this host: the rule does not cover its contents",
		    pattern);
	return 0;
}

static int look_at(struct arena *a, const struct model *m, const struct rule *rule,
		   const struct rule_name *name, struct diagnostics *d)
{
	struct paths paths = {};
	int e = expand(a, name->text, &paths);

	for (size_t i = 0; e == 0 && i < paths.count; i++) {
		e = look_at_link(a, m, rule, name, paths.items[i], d);
		if (e == 0)
			e = look_at_directory(a, m, rule, name, paths.items[i], d);
	}
	return e;
}

int host_paths_warn(struct arena *a, const struct model *m, struct diagnostics *d)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < m->rule_count; i++) {
		const struct rule *rule = m->rules[i];

		for (size_t k = 0; e == 0 && k < rule->name_count; k++)
			if (!rule->names[k].abstract && rule->names[k].text[0] == '/')
				e = look_at(a, m, rule, &rule->names[k], d);
	}
	return e;
}
