/* SPDX-License-Identifier: Apache-2.0 */
/* Reads path patterns and abstract socket names. */
#include "policy/automaton/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "policy/source/words.h"

struct expansion {
	struct pattern_reader *reader;
	const struct rule_name *name;
	int (*emit)(void *context, const struct pattern *pattern);
	void *context;
	size_t combinations, groups;
	bool failed; /* reported: do not expand further */
};

struct cursor {
	const char *p, *end;
	struct element *elements;
	size_t count;
};

static int fail(struct expansion *x, const char *hint, const char *what)
{
	if (!x->failed)
		report_error(x->reader->diagnostics, &x->name->place, hint, "pattern \"%s\": %s",
			     x->name->text, what);
	x->failed = true;
	return -EINVAL;
}

static bool is_listing(const struct element *elements, size_t count)
{
	return count && elements[count - 1].kind == ELEMENT_RANGE &&
	       elements[count - 1].low == '/' && elements[count - 1].high == '/';
}

bool pattern_is_listing(const struct pattern *p)
{
	return is_listing(p->elements, p->count) ||
	       (p->count && p->elements[p->count - 1].kind == ELEMENT_DIRSTAR);
}

bool pattern_is_subtree(const struct pattern *p)
{
	return p->count && p->elements[p->count - 1].kind == ELEMENT_GLOBSTAR;
}

/*
 * The pattern matches at any depth after its first '/'. "/" with only two stars is not such a
 * pattern.
 */
static bool is_floating(const struct pattern *p)
{
	return p->start == CORDON_START_PATH && p->count > 1 &&
	       (p->elements[1].kind == ELEMENT_DIRSTAR ||
		(p->elements[1].kind == ELEMENT_GLOBSTAR && p->count > 2));
}

/* ---- one combination: text without alternatives to elements ---- */

static void add(struct cursor *c, enum element_kind kind)
{
	c->elements[c->count++] = (struct element){.kind = kind};
}

static void add_byte(struct cursor *c, char byte)
{
	c->elements[c->count++] = (struct element){
		.kind = ELEMENT_RANGE, .low = (uint8_t)byte, .high = (uint8_t)byte};
}

static void set_ascii(struct element *e, unsigned int b, bool on)
{
	if (on)
		e->ascii[b / 32] |= 1u << b % 32;
	else
		e->ascii[b / 32] &= ~(1u << b % 32);
}

static void add_any_character(struct cursor *c)
{
	add(c, ELEMENT_CHARACTER);
	memset(c->elements[c->count - 1].ascii, 0xff, sizeof(c->elements->ascii));
	set_ascii(&c->elements[c->count - 1], '/', false);
}

/* "\xff" is a byte of a name that is not UTF-8; the text of a policy must be UTF-8. */
static bool is_byte(const char *p, const char *end)
{
	return end - p >= 4 && p[0] == '\\' && p[1] == 'x' && isxdigit((unsigned char)p[2]) &&
	       isxdigit((unsigned char)p[3]);
}

static int read_byte(struct expansion *x, struct cursor *c)
{
	char digits[3] = {c->p[2], c->p[3]};
	unsigned char byte = (unsigned char)strtoul(digits, NULL, 16);

	if (byte < 0x80)
		return fail(x, "write the character itself",
			    "\\xHH is for bytes from 80 to ff alone");
	add_byte(c, (char)byte);
	c->p += 4;
	return 0;
}

struct shell_class {
	const char *name, *hint;
};

/* Suggests the equivalent of a shell's character class. */
static const char *class_hint(const char *p, const char *end)
{
	static const struct shell_class classes[] = {
		{"alpha", "write a-zA-Z: [a-zA-Z]"},
		{"alnum", "write a-zA-Z0-9: [a-zA-Z0-9]"},
		{"digit", "write 0-9: [0-9]"},
		{"lower", "write a-z: [a-z]"},
		{"upper", "write A-Z: [A-Z]"},
		{"xdigit", "write 0-9a-fA-F: [0-9a-fA-F]"},
		{"word", "write a-zA-Z0-9_: [a-zA-Z0-9_]"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if ((size_t)(end - p) >= strlen(classes[i].name) &&
		    strncmp(p, classes[i].name, strlen(classes[i].name)) == 0)
			return classes[i].hint;
	return "list the characters, as in [a-z0-9_]";
}

/* Reads one member of a class, after an optional backslash. 0: reported. */
static unsigned char read_member(struct expansion *x, struct cursor *c)
{
	if (c->end - c->p > 1 && c->p[0] == '[' && strchr(":.=", c->p[1])) {
		fail(x, class_hint(c->p + 2, c->end), "classes of a shell have no meaning here");
		return 0;
	}
	if (is_byte(c->p, c->end)) {
		fail(x, "use alternatives: {\\xe4,\\xf6}", "classes hold ASCII characters only");
		return 0;
	}
	if (c->p < c->end && *c->p == '\\')
		c->p++;
	if (c->p >= c->end) {
		fail(x, "close the class with ]", "the class is not closed");
		return 0;
	}
	if ((unsigned char)*c->p >= 0x80) {
		fail(x, "use alternatives: {\xc3\xa4,\xc3\xb6}",
		     "classes hold ASCII characters only");
		return 0;
	}
	if (*c->p == '/') {
		fail(x, "a class matches one character of a component", "a class cannot hold '/'");
		return 0;
	}
	return (unsigned char)*c->p++;
}

static int read_class(struct expansion *x, struct cursor *c)
{
	struct element e = {.kind = ELEMENT_SET};
	bool first = true;

	c->p++;
	if (c->p < c->end && (*c->p == '!' || *c->p == '^')) {
		e.kind = ELEMENT_CHARACTER;
		c->p++;
	}
	for (; c->p < c->end && (first || *c->p != ']'); first = false) {
		unsigned char low, high;

		low = high = read_member(x, c);
		if (low && c->end - c->p > 1 && c->p[0] == '-' && c->p[1] != ']') {
			c->p++;
			high = read_member(x, c);
		}
		if (!low || !high)
			return -EINVAL;
		if (low > high)
			return fail(x, "write the lower end first",
				    "a range of the class is empty");
		for (unsigned int b = low; b <= high; b++)
			set_ascii(&e, b, true);
	}
	if (c->p >= c->end)
		return fail(x, "close the class with ], or write \\[ for the character itself",
			    "the class is not closed");
	c->p++;
	if (e.kind == ELEMENT_CHARACTER)
		for (size_t i = 0; i < 4; i++)
			e.ascii[i] = ~e.ascii[i];
	set_ascii(&e, '/', false);
	c->elements[c->count++] = e;
	return 0;
}

static void read_stars(struct cursor *c, bool at_component, bool abstract)
{
	size_t stars = 0;

	while (c->p < c->end && *c->p == '*') {
		c->p++;
		stars++;
	}
	if (stars >= 2 && at_component && !abstract && c->p < c->end && *c->p == '/') {
		while (c->p < c->end && *c->p == '/')
			c->p++;
		if (c->elements[c->count - 1].kind != ELEMENT_DIRSTAR)
			add(c, ELEMENT_DIRSTAR);
		return;
	}
	if (c->count && c->elements[c->count - 1].kind == ELEMENT_GLOBSTAR)
		return;
	add(c, stars >= 2 ? ELEMENT_GLOBSTAR : ELEMENT_STAR);
}

/* Resolved names have no '.' or '..' components: a pattern with one would never match. */
static int check_component(struct expansion *x, const struct cursor *c, size_t first)
{
	size_t length = c->count - first;

	if (length != 1 && length != 2)
		return 0;
	for (size_t i = first; i < c->count; i++)
		if (c->elements[i].kind != ELEMENT_RANGE || c->elements[i].low != '.')
			return 0;
	return fail(x, "write the path as it is after resolving symbolic links and dots",
		    length == 1 ? "'.' is no component of a resolved path"
				: "'..' is no component of a resolved path");
}

/*
 * Rejects ksh and bash pattern groups: "@(a|b)", "!(a)". With '*', '+' and '?', a name such as
 * "*(1).pdf" is more likely, unless there are alternatives.
 */
static int check_group(struct expansion *x, const struct cursor *c)
{
	const char *open = c->p + 1, *close;

	if (!strchr("!@+*?", *c->p) || open >= c->end || *open != '(')
		return 0;
	close = memchr(open, ')', (size_t)(c->end - open));
	if (!close || (!strchr("!@", *c->p) && !memchr(open, '|', (size_t)(close - open))))
		return 0;
	if (*c->p == '!')
		return fail(x,
			    "allow more and deny these in a separate rule; write !\\( for the "
			    "characters themselves",
			    "a pattern cannot exclude names");
	return fail(x, "write {a,b}, or \\( for the character itself",
		    "groups of a shell have no meaning here");
}

/* Rejects shell variables such as "$HOME": capitals up to the component's end. */
static int check_variable(struct expansion *x, const struct cursor *c)
{
	const char *p = c->p + 1;

	while (p < c->end && (isupper((unsigned char)*p) || *p == '_' ||
			      (isdigit((unsigned char)*p) && p > c->p + 1)))
		p++;
	if (p == c->p + 1 || (p < c->end && *p != '/'))
		return 0;
	return fail(x,
		    "write ${home}, ${workdir} or ${tmp} at the start, or \\$ for the character "
		    "itself",
		    "variables of the environment have no meaning here");
}

static int read_elements(struct expansion *x, struct cursor *c, bool abstract)
{
	size_t component = c->count; /* first element of the current component */
	int r;

	while (c->p < c->end) {
		/* At the start of a component, the previous element is a '/' or a dirstar. */
		bool at_component = component == c->count && c->count;

		r = check_group(x, c);
		if (r < 0)
			return r;
		switch (*c->p) {
		case '/':
			if (!abstract) {
				r = check_component(x, c, component);
				if (r < 0)
					return r;
			}
			if (abstract || !at_component)
				add_byte(c, '/');
			c->p++;
			component = c->count;
			break;
		case '*':
			read_stars(c, at_component, abstract);
			if (c->elements[c->count - 1].kind == ELEMENT_DIRSTAR)
				component = c->count;
			break;
		case '?':
			add_any_character(c);
			c->p++;
			break;
		case '[':
			r = read_class(x, c);
			if (r < 0)
				return r;
			break;
		case '$':
			if (c->p + 1 < c->end && c->p[1] == '{')
				return fail(x,
					    abstract ? "write \\$ for the character itself"
						     : "write one pattern per place",
					    abstract ? "abstract names know no variables"
						     : "a variable is only allowed at the start");
			r = check_variable(x, c);
			if (r < 0)
				return r;
			add_byte(c, *c->p++);
			break;
		case '\\':
			if (is_byte(c->p, c->end)) {
				r = read_byte(x, c);
				if (r < 0)
					return r;
				break;
			}
			if (++c->p >= c->end)
				return fail(x, "write \\\\ for a backslash",
					    "a backslash at the end");
			add_byte(c, *c->p++);
			break;
		default:
			add_byte(c, *c->p++);
		}
	}
	return abstract ? 0 : check_component(x, c, component);
}

static int find_anchor(struct expansion *x, const char *name, size_t size,
		       enum cordon_start *ret_start)
{
	struct pattern_reader *r = x->reader;
	const char *known[CORDON_MAX_ANCHORS], *closest, *copy, *hint = "known: ";
	size_t count = 0;

	for (unsigned int i = 0; i < CORDON_MAX_ANCHORS; i++) {
		if (!r->anchors[i])
			continue;
		if (strlen(r->anchors[i]) == size && memcmp(r->anchors[i], name, size) == 0) {
			*ret_start = CORDON_START_ANCHOR + i;
			return 0;
		}
		known[count++] = r->anchors[i];
	}
	copy = arena_copy(r->arena, name, size);
	if (!copy)
		return -ENOMEM;
	closest = suggest(copy, known, count);
	if (closest)
		hint = arena_printf(r->arena, "did you mean ${%s}?", closest);
	for (size_t i = 0; !closest && i < count && hint; i++)
		hint = arena_printf(r->arena, "%s${%s}, ", hint, known[i]);
	if (hint && !closest)
		hint = arena_printf(r->arena, "%sand what \"variables:\" lists", hint);
	return hint ? fail(x, hint, "unknown variable") : -ENOMEM;
}

static int read_start(struct expansion *x, struct cursor *c, struct pattern *ret)
{
	size_t size = (size_t)(c->end - c->p);
	const char *close;
	int r;

	if (x->name->abstract) {
		ret->start = CORDON_START_ABSTRACT;
		return size ? 0 : fail(x, NULL, "the name is empty");
	}
	if (size == 0)
		return fail(x, "start with '/', ${workdir} or **/", "the path is empty");
	if (*c->p == '@') {
		if ((size != 10 || memcmp(c->p, "@anonymous", 10) != 0) &&
		    (size != 6 || memcmp(c->p, "@memfd", 6) != 0))
			return fail(x, "write @anonymous or @memfd", "unknown special object");
		ret->special = true;
		return 0;
	}
	if (size > 2 && c->p[0] == '$' && c->p[1] == '{') {
		close = memchr(c->p, '}', size);
		if (!close)
			return fail(x, "write ${workdir}", "the variable is not closed");
		r = find_anchor(x, c->p + 2, (size_t)(close - c->p) - 2, &ret->start);
		if (r < 0)
			return r;
		c->p = close + 1;
		if (c->p < c->end && *c->p != '/')
			return fail(x, "put a '/' behind the variable",
				    "a variable is a directory");
		return 0;
	}
	if (*c->p == '/')
		return 0;
	if (size >= 2 && c->p[0] == '*' && c->p[1] == '*' && (size == 2 || c->p[2] == '/')) {
		add_byte(c, '/');
		return 0;
	}
	return fail(x,
		    *c->p == '~' || (size >= 5 && memcmp(c->p, "$HOME", 5) == 0)
			    ? "write ${home} for the home directory"
			    : "start with '/', ${workdir} or **/",
		    "the path is relative");
}

static int read_combination(struct expansion *x, const char *text, size_t size)
{
	struct pattern pattern = {.start = CORDON_START_PATH};
	_cleanup_(freep) struct element *elements = calloc(size + 2, sizeof(*elements));
	struct cursor c = {.p = text, .end = text + size, .elements = elements};
	int r;

	if (!elements)
		return -ENOMEM;
	if (++x->combinations > PATTERN_COMBINATIONS_MAX)
		return fail(x, "write several patterns",
			    "the alternatives make more than 1024 combinations");
	if (!x->name->abstract && size > 2 && memcmp(text + size - 2, "/.", 2) == 0) {
		pattern.itself = true;
		c.end -= 2;
	}
	r = read_start(x, &c, &pattern);
	if (r == 0)
		r = read_elements(x, &c, x->name->abstract);
	if (r < 0)
		return r;
	pattern.elements = elements;
	pattern.count = c.count;
	if (pattern.itself && (pattern_is_subtree(&pattern) || pattern_is_listing(&pattern)))
		return fail(x, "put the name of one object before it",
			    "'/.' matches an object without the names below it");
	if (is_floating(&pattern))
		pattern.start = CORDON_START_FLOATING;
	return x->emit(x->context, &pattern);
}

/* ---- alternatives ---- */

/* The byte after the class that starts at p; `end` if it is not closed. */
static const char *skip_class(const char *p, const char *end)
{
	p++;
	if (p < end && (*p == '!' || *p == '^'))
		p++;
	for (bool first = true; p < end && (first || *p != ']'); first = false) {
		if (*p == '\\')
			p++;
		p++;
	}
	return p < end ? p + 1 : end;
}

/* The byte after the item at p, which is not a brace: a character, an escape or a class. */
static const char *skip_item(const char *p, const char *end)
{
	const char *close;

	if (*p == '[')
		return skip_class(p, end);
	if (*p == '\\' && p + 1 < end)
		return p + 2;
	if (*p == '$' && p + 1 < end && p[1] == '{') {
		close = memchr(p, '}', (size_t)(end - p));
		return close ? close + 1 : end;
	}
	return p + 1;
}

/* Finds the closing '}' of the '{' at `open`, and the commas at its level. */
static int find_group(struct expansion *x, const char *open, const char *end,
		      const char **ret_close, const char **commas, size_t *ret_count)
{
	unsigned int depth = 0;
	size_t count = 0;

	for (const char *p = open; p < end;) {
		if (*p == '{') {
			depth++;
			p++;
		} else if (*p == '}' && --depth == 0) {
			*ret_close = p;
			*ret_count = count;
			return 0;
		} else if (*p == '}') {
			p++;
		} else {
			if (*p == ',' && depth == 1) {
				if (count == PATTERN_COMBINATIONS_MAX)
					return fail(x, "write several patterns",
						    "more than 1024 alternatives");
				commas[count++] = p;
			}
			p = skip_item(p, end);
		}
	}
	return fail(x, "close the alternatives with }, or write \\{ for the character itself",
		    "the alternatives are not closed");
}

static int expand(struct expansion *x, const char *text, size_t size, size_t depth);

/* "a..c", "1..9" */
static bool is_range(const char *p, const char *end)
{
	for (; end - p > 3; p++)
		if (p[1] == '.' && p[2] == '.')
			return isalnum((unsigned char)p[0]) &&
			       (isalnum((unsigned char)p[3]) || p[3] == '-');
	return false;
}

static int expand_group(struct expansion *x, const char *text, size_t size, const char *open,
			size_t depth)
{
	_cleanup_(freep)
		const char **commas = calloc(PATTERN_COMBINATIONS_MAX + 1, sizeof(*commas));
	_cleanup_(freep) char *joined = malloc(size + 1);
	const char *end = text + size, *from = open + 1, *close;
	size_t before = (size_t)(open - text), count;
	int r;

	if (!commas || !joined)
		return -ENOMEM;
	if (depth >= PATTERN_GROUPS_MAX)
		return fail(x, "write several patterns", "more than 32 groups of alternatives");
	r = find_group(x, open, end, &close, commas, &count);
	if (r < 0)
		return r;
	commas[count] = close;
	if (count == 0 && is_range(open + 1, close))
		return fail(x, "write {a,b,c}, or [a-c] for one character",
			    "ranges of a shell have no meaning here");
	memcpy(joined, text, before);
	for (size_t i = 0; i <= count; i++) {
		size_t middle = (size_t)(commas[i] - from), after = (size_t)(end - close) - 1;

		memcpy(joined + before, from, middle);
		memcpy(joined + before + middle, close + 1, after);
		r = expand(x, joined, before + middle + after, depth + 1);
		if (r < 0)
			return r;
		from = commas[i] + 1;
	}
	return 0;
}

static int expand(struct expansion *x, const char *text, size_t size, size_t depth)
{
	const char *end = text + size;

	for (const char *p = text; p < end; p = skip_item(p, end)) {
		if (*p == '{')
			return expand_group(x, text, size, p, depth);
		if (*p == '}')
			return fail(x, "write \\} for the character itself", "a } without its {");
	}
	return read_combination(x, text, size);
}

int pattern_read(struct pattern_reader *r, const struct rule_name *name,
		 int (*emit)(void *context, const struct pattern *pattern), void *context)
{
	struct expansion x = {.reader = r, .name = name, .emit = emit, .context = context};
	int e;

	if (name->size > PATTERN_SIZE_MAX) {
		report_error(r->diagnostics, &name->place, "write several patterns",
			     "the pattern is longer than %d bytes", PATTERN_SIZE_MAX);
		return 0;
	}
	e = expand(&x, name->text, name->size, 0);
	return e < 0 && x.failed ? 0 : e;
}
