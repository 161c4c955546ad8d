/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the subset of YAML for policies. */
#include "policy/source/node.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <yaml.h>

struct parser {
	yaml_parser_t yaml;
	struct arena *arena;
	const struct source *source;
	struct diagnostics *diagnostics;
};

DEFINE_CLEANUP(yaml_event_t *, yaml_event_delete, event_releasep)

static struct place place_of(const struct parser *p, const yaml_mark_t *mark)
{
	return (struct place){p->source, (unsigned int)mark->line + 1,
			      (unsigned int)mark->column + 1};
}

static int refuse(struct parser *p, const yaml_mark_t *mark, const char *hint, const char *what)
{
	struct place place = place_of(p, mark);

	report_error(p->diagnostics, &place, hint, "%s", what);
	return -EINVAL;
}

static const char *syntax_hint(const char *problem)
{
	if (strstr(problem, "alphabetic or numeric character"))
		return "quote a pattern that starts with '*' or '&': \"**/.env\"";
	if (strstr(problem, "cannot start any token"))
		return "indent with spaces, and quote values that start with '@', '`' or '%': "
		       "\"@memfd\"";
	if (strstr(problem, "',' or '}'") || strstr(problem, "',' or ']'"))
		return "close the list or mapping, and quote patterns that hold braces or "
		       "brackets: \"${workdir}/**\"";
	if (strstr(problem, "expected <block end>") ||
	    strstr(problem, "could not find expected ':'") || strstr(problem, "not allowed"))
		return "check the indentation, and that each key is followed by ': '";
	if (strstr(problem, "end of stream"))
		return "close the quotes";
	if (strstr(problem, "escape character"))
		return "use single quotes, where a backslash has no special meaning: '/a\\*b'";
	if (strstr(problem, "directive") || strstr(problem, "<document start>"))
		return "remove lines that start with '%' and '---', and everything after the "
		       "policy";
	return "write key: value, lists as [a, b], and quote patterns: \"${workdir}/**\"";
}

static int next_event(struct parser *p, yaml_event_t *ret_event)
{
	const yaml_mark_t *mark = &p->yaml.problem_mark;
	const char *problem;

	if (yaml_parser_parse(&p->yaml, ret_event))
		return 0;
	if (p->yaml.error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	problem = p->yaml.problem ? p->yaml.problem : "malformed";
	if (p->yaml.error == YAML_READER_ERROR)
		mark = &p->yaml.mark;
	/* The start of a quotation is more helpful than the end of the file. */
	if (strstr(problem, "end of stream") && p->yaml.context)
		mark = &p->yaml.context_mark;
	struct place place = place_of(p, mark);

	report_error(p->diagnostics, &place, syntax_hint(problem), "not YAML: %s%s%s", problem,
		     p->yaml.context ? ", " : "", p->yaml.context ? p->yaml.context : "");
	return -EINVAL;
}

static int check_plainness(struct parser *p, const yaml_event_t *event, const yaml_char_t *anchor,
			   const yaml_char_t *tag)
{
	if (anchor)
		return refuse(p, &event->start_mark, "repeat the text, or quote a pattern with '&'",
			      "YAML anchors are not allowed in policies");
	if (tag)
		return refuse(p, &event->start_mark, "quote a pattern that starts with '!'",
			      "YAML tags are not allowed in policies");
	return 0;
}

static int parse_node(struct parser *p, const yaml_event_t *event, unsigned int depth,
		      struct node **ret_node);

static int append(struct parser *p, struct node *parent, struct node *child)
{
	struct node **items = arena_grow(p->arena, parent->items, parent->count, sizeof(*items));

	if (!items)
		return -ENOMEM;
	items[parent->count++] = child;
	parent->items = items;
	return 0;
}

static bool same_text(const struct node *a, const struct node *b)
{
	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static int check_key(struct parser *p, const struct node *mapping, const struct node *key)
{
	if (key->type != NODE_SCALAR) {
		report_error(p->diagnostics, &key->place, "quote patterns that hold braces",
			     "a key must be a string");
		return -EINVAL;
	}
	for (size_t i = 0; i < mapping->count; i += 2) {
		if (!same_text(mapping->items[i], key))
			continue;
		report_error(p->diagnostics, &key->place, "join the two",
			     "key \"%s\" is repeated (first on line %u)", key->text,
			     mapping->items[i]->place.line);
		return 0;
	}
	return 0;
}

/* Each pair of keys of a mapping is compared: this limit keeps that fast. */
#define KEYS_MAX 1024

static int parse_items(struct parser *p, struct node *parent, unsigned int depth)
{
	yaml_event_type_t end = parent->type == NODE_MAPPING ? YAML_MAPPING_END_EVENT
							     : YAML_SEQUENCE_END_EVENT;

	for (;;) {
		yaml_event_t event;
		_cleanup_(event_releasep) yaml_event_t *release = NULL;
		struct node *child = NULL;
		int r = next_event(p, &event);

		if (r < 0)
			return r;
		release = &event;
		if (event.type == end)
			return 0;
		r = parse_node(p, &event, depth, &child);
		if (r < 0)
			return r;
		if (parent->type == NODE_MAPPING && parent->count % 2 == 0) {
			if (parent->count >= 2 * KEYS_MAX)
				return refuse(p, &event.start_mark,
					      "a policy has a few keys: is this one?",
					      "more than 1024 keys in one mapping");
			r = check_key(p, parent, child);
			if (r < 0)
				return r;
		}
		r = append(p, parent, child);
		if (r < 0)
			return r;
	}
}

static int parse_scalar(struct parser *p, const yaml_event_t *event, struct node *n)
{
	int r = check_plainness(p, event, event->data.scalar.anchor, event->data.scalar.tag);

	if (r < 0)
		return r;
	n->type = NODE_SCALAR;
	n->size = event->data.scalar.length;
	n->text = arena_copy(p->arena, (const char *)event->data.scalar.value, n->size);
	n->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (!n->text)
		return -ENOMEM;
	/* "\0" in double quotes: all users of these strings expect NUL-terminated text. */
	if (memchr(n->text, '\0', n->size))
		return refuse(p, &event->start_mark,
			      "remove \\0: no name and no value can hold one",
			      "a string must not hold a NUL byte");
	return 0;
}

static int parse_node(struct parser *p, const yaml_event_t *event, unsigned int depth,
		      struct node **ret_node)
{
	struct node *n = arena_alloc(p->arena, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	n->place = place_of(p, &event->start_mark);
	*ret_node = n;
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return parse_scalar(p, event, n);
	case YAML_SEQUENCE_START_EVENT:
		n->type = NODE_SEQUENCE;
		r = check_plainness(p, event, event->data.sequence_start.anchor,
				    event->data.sequence_start.tag);
		break;
	case YAML_MAPPING_START_EVENT:
		n->type = NODE_MAPPING;
		r = check_plainness(p, event, event->data.mapping_start.anchor,
				    event->data.mapping_start.tag);
		break;
	case YAML_ALIAS_EVENT:
		return refuse(p, &event->start_mark,
			      "quote a pattern that starts with '*': \"*.py\"",
			      "YAML aliases are not allowed in policies");
	default:
		return refuse(p, &event->start_mark, "write key: value",
			      "not YAML: unexpected content");
	}
	if (r < 0)
		return r;
	if (depth >= NODE_DEPTH_MAX)
		return refuse(
			p, &event->start_mark,
			"a rule is one mapping of lists: remove brackets, or quote what holds them",
			"nested too deeply");
	return parse_items(p, n, depth + 1);
}

static int parse_stream(struct parser *p, struct node **ret_node)
{
	struct node *root = NULL;

	for (;;) {
		yaml_event_t event;
		_cleanup_(event_releasep) yaml_event_t *release = NULL;
		int r = next_event(p, &event);

		if (r < 0)
			return r;
		release = &event;
		switch (event.type) {
		case YAML_STREAM_END_EVENT:
			*ret_node = root;
			return 0;
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			if (root)
				return refuse(p, &event.start_mark, "one policy per file",
					      "a second YAML document starts here");
			break;
		default:
			r = parse_node(p, &event, 0, &root);
			if (r < 0)
				return r;
		}
	}
}

int node_parse(struct arena *a, const struct source *s, struct diagnostics *d,
	       struct node **ret_node)
{
	struct parser p = {.arena = a, .source = s, .diagnostics = d};
	struct place bad;
	bool nul;
	int r;

	if (source_find_bad_byte(s, &bad, &nul)) {
		report_error(d, &bad, "policies are UTF-8 text",
			     nul ? "a NUL byte" : "not valid UTF-8");
		return -EINVAL;
	}
	if (!yaml_parser_initialize(&p.yaml))
		return -ENOMEM;
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)s->text, s->size);
	r = parse_stream(&p, ret_node);
	yaml_parser_delete(&p.yaml);
	return r;
}

bool node_is_null(const struct node *n)
{
	return n->type == NODE_SCALAR && n->plain &&
	       (n->size == 0 || strcmp(n->text, "~") == 0 || strcasecmp(n->text, "null") == 0);
}

const char *node_describe(const struct node *n)
{
	if (n->type == NODE_SEQUENCE)
		return "a list";
	if (n->type == NODE_MAPPING)
		return "a mapping";
	if (node_is_null(n))
		return "nothing";
	if (n->plain && (strcmp(n->text, "true") == 0 || strcmp(n->text, "false") == 0))
		return "a boolean";
	if (n->plain && strspn(n->text, "0123456789") == n->size)
		return "a number";
	return "a string";
}

struct node *node_get(const struct node *mapping, const char *key)
{
	for (size_t i = 0; i < mapping->count; i += 2)
		if (strcmp(mapping->items[i]->text, key) == 0)
			return mapping->items[i + 1];
	return NULL;
}
