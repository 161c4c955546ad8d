/* SPDX-License-Identifier: Apache-2.0 */
/* Matches patterns with names on record, as policies spell them. */
#include "audit/search/glob.h"

#include <string.h>

#define ALTERNATIVES_MAX 256

struct list {
	char **items;
	size_t count;
};

struct audit_glob {
	struct list patterns; /* without braces */
	bool base;	      /* for the last component */
	char *prefix;
	unsigned char *now, *next; /* states while matching */
};

void audit_glob_free(struct audit_glob *glob)
{
	for (size_t i = 0; i < glob->patterns.count; i++)
		free(glob->patterns.items[i]);
	free(glob->patterns.items);
	free(glob->prefix);
	free(glob->now);
	free(glob->next);
	free(glob);
}

static int add(struct list *list, char *item)
{
	char **grown;

	if (!item)
		return -ENOMEM;
	grown = list->count < ALTERNATIVES_MAX
			? reallocarray(list->items, list->count + 1, sizeof(*list->items))
			: NULL;
	if (!grown) {
		free(item);
		return list->count < ALTERNATIVES_MAX ? -ENOMEM : -E2BIG;
	}
	list->items = grown;
	list->items[list->count++] = item;
	return 0;
}

/* Behind '[': the size up to and with ']', 0 if there is none. */
static size_t class_size(const char *at)
{
	size_t size = 0;

	if (at[size] == '!' || at[size] == '^')
		size++;
	if (at[size] == ']')
		size++;
	while (at[size] && at[size] != ']')
		size++;
	return at[size] ? size + 1 : 0;
}

/* The next character with a meaning of its own among `wanted`, or the end. */
static const char *find_special(const char *at, const char *wanted)
{
	for (; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (strchr(wanted, *at))
			break;
	}
	return at;
}

/* Adds the pattern once per alternative of its braces. */
static int expand(struct list *list, const char *pattern)
{
	const char *open = find_special(pattern, "{"), *close, *from, *to;
	int r;

	if (!*open)
		return add(list, strdup(pattern));
	close = find_special(open + 1, "{}");
	if (*close != '}')
		return -EINVAL;
	for (from = open + 1;; from = to + 1) {
		_cleanup_(freep) char *one = NULL;

		to = find_special(from, ",}");
		if (asprintf(&one, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)(to - from),
			     from, close + 1) < 0) {
			one = NULL;
			return -ENOMEM;
		}
		r = expand(list, one);
		if (r < 0 || *to == '}')
			return r;
	}
}

static int check_classes(const char *pattern)
{
	for (const char *at = pattern; *(at = find_special(at, "[")); at++) {
		size_t size = class_size(at + 1);

		if (size == 0)
			return -EINVAL;
		at += size;
	}
	return 0;
}

static int set_prefix(struct audit_glob *glob)
{
	const char *first = glob->patterns.count > 0 ? glob->patterns.items[0] : "";
	size_t size = glob->base ? 0 : strcspn(first, "*?[\\");

	for (size_t i = 1; i < glob->patterns.count; i++) {
		size_t same = 0;

		while (same < size && glob->patterns.items[i][same] == first[same])
			same++;
		size = same;
	}
	glob->prefix = strndup(first, size);
	return glob->prefix ? 0 : -ENOMEM;
}

int audit_glob_new(const char *pattern, struct audit_glob **ret_glob)
{
	_cleanup_(audit_glob_freep) struct audit_glob *glob = calloc(1, sizeof(*glob));
	size_t longest = strlen(pattern) + 1;
	int r;

	if (!glob)
		return -ENOMEM;
	r = expand(&glob->patterns, pattern);
	/* Of what comes out: an alternative may take away what closes a bracket. */
	for (size_t i = 0; r == 0 && i < glob->patterns.count; i++)
		r = check_classes(glob->patterns.items[i]);
	if (r < 0)
		return r;
	glob->base = !strchr(pattern, '/');
	glob->now = malloc(longest);
	glob->next = malloc(longest);
	if (!glob->now || !glob->next)
		return -ENOMEM;
	r = set_prefix(glob);
	if (r < 0)
		return r;
	*ret_glob = TAKE_PTR(glob);
	return 0;
}

static bool in_class(const char *class, size_t size, unsigned char c)
{
	bool negated = class[0] == '!' || class[0] == '^', found = false;
	size_t i = negated;

	if (c == '/')
		return false;
	for (; i < size; i++) {
		unsigned char low = (unsigned char)class[i], high = low;

		if (i + 2 < size && class[i + 1] == '-') {
			high = (unsigned char)class[i + 2];
			i += 2;
		}
		found |= c >= low && c <= high;
	}
	return found != negated;
}

/* Marks a state and those that are reached from it without a character. */
static void enter(const char *pattern, unsigned char *states, size_t at)
{
	states[at] = 1;
	while (pattern[at] == '*') {
		at += pattern[at + 1] == '*' ? 2 : 1;
		states[at] = 1;
	}
}

/* From state `at` by character `c`. */
static void step(const char *pattern, size_t at, unsigned char c, unsigned char *next)
{
	size_t size;

	switch (pattern[at]) {
	case '*':
		if (c != '/' || pattern[at + 1] == '*')
			enter(pattern, next, at);
		return;
	case '?':
		if (c != '/')
			enter(pattern, next, at + 1);
		return;
	case '[':
		size = class_size(pattern + at + 1);
		if (in_class(pattern + at + 1, size - 1, c))
			enter(pattern, next, at + 1 + size);
		return;
	case '\\':
		if (pattern[at + 1])
			at++;
		break;
	default:
		break;
	}
	if ((unsigned char)pattern[at] == c)
		enter(pattern, next, at + 1);
}

static bool matches_one(const struct audit_glob *glob, const char *pattern, const char *name,
			size_t size)
{
	unsigned char *now = glob->now, *next = glob->next, *swap;
	size_t length = strlen(pattern);

	memset(now, 0, length + 1);
	enter(pattern, now, 0);
	for (size_t i = 0; i < size; i++) {
		memset(next, 0, length + 1);
		for (size_t at = 0; at < length; at++)
			if (now[at])
				step(pattern, at, (unsigned char)name[i], next);
		swap = now;
		now = next;
		next = swap;
	}
	return now[length];
}

bool audit_glob_matches(const struct audit_glob *glob, const char *name, size_t size)
{
	const char *slash = glob->base ? memrchr(name, '/', size) : NULL;

	if (slash) {
		size -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	for (size_t i = 0; i < glob->patterns.count; i++)
		if (matches_one(glob, glob->patterns.items[i], name, size))
			return true;
	return false;
}

const char *audit_glob_prefix(const struct audit_glob *glob)
{
	return glob->prefix;
}
