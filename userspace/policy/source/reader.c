/* SPDX-License-Identifier: Apache-2.0 */
/* Reads keys by table and values by type from the YAML tree. */
#include "policy/source/reader.h"

#include <string.h>

#include "base/suggest.h"
#include "policy/source/units.h"

bool reader_expect(struct reader *r, const struct node *n, enum node_type type,
		   const char *expected, const char *hint)
{
	if (n->type == type)
		return true;
	report_error(r->diagnostics, &n->place, hint, "%s expected, not %s", expected,
		     node_describe(n));
	return false;
}

static const char *keys_hint(struct reader *r, const struct key *keys, const char *lead)
{
	const char *hint = lead;

	for (size_t i = 0; keys[i].name && hint; i++)
		hint = arena_printf(r->arena, "%s%s%s", hint, i ? ", " : "", keys[i].name);
	return hint;
}

static int report_unknown_key(struct reader *r, const struct node *key, const char *what,
			      const struct key *keys)
{
	const char *names[64];
	const char *closest, *hint;
	size_t count = 0;

	while (keys[count].name && count < ARRAY_SIZE(names)) {
		names[count] = keys[count].name;
		count++;
	}
	closest = suggest(key->text, names, count);
	hint = closest ? arena_printf(r->arena, "did you mean \"%s\"?", closest)
		       : keys_hint(r, keys, "known keys: ");
	if (!hint)
		return -ENOMEM;
	report_error(r->diagnostics, &key->place, hint, "unknown key \"%s\" in %s", key->text,
		     what);
	return 0;
}

int reader_mapping(struct reader *r, const struct node *n, const char *what, const struct key *keys,
		   void *target)
{
	if (n->type != NODE_MAPPING) {
		report_error(r->diagnostics, &n->place,
			     keys_hint(r, keys, "write {key: value, ...}, with keys: "),
			     "%s must be a mapping (key: value), not %s", what, node_describe(n));
		return 0;
	}
	for (size_t i = 0; i < n->count; i += 2) {
		const struct node *name = n->items[i];
		const struct key *key = keys;
		int e;

		while (key->name && strcmp(key->name, name->text) != 0)
			key++;
		e = key->name ? key->read(r, n->items[i + 1], target)
			      : report_unknown_key(r, name, what, keys);
		if (e < 0)
			return e;
	}
	return 0;
}

static bool is_core_scalar(const struct node *n)
{
	static const char *const words[] = {"true", "false"};

	if (node_is_null(n))
		return true;
	if (!n->plain)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(n->text, words[i]) == 0)
			return true;
	return strspn(n->text, "0123456789.+-eE") == n->size &&
	       strcspn(n->text, "0123456789") < n->size;
}

bool reader_string(struct reader *r, const struct node *n, const char *what, const char **ret)
{
	const char *hint = "write one string here";

	if (n->type == NODE_SCALAR && !is_core_scalar(n)) {
		*ret = n->text;
		return true;
	}
	if (n->type == NODE_SCALAR && !node_is_null(n))
		hint = "put it in quotes";
	else if (n->type == NODE_MAPPING)
		hint = "quote strings that hold braces";
	report_error(r->diagnostics, &n->place, hint, "%s must be a string, not %s", what,
		     node_is_null(n) || n->type != NODE_SCALAR ? node_describe(n)
							       : "a number or boolean");
	return false;
}

int reader_strings(struct reader *r, const struct node *n, const char *what, const char *example,
		   const char ***strings, size_t *count)
{
	const char *hint = arena_printf(r->arena, "write a list: %s", example);

	if (!hint)
		return -ENOMEM;
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list", hint))
		return 0;
	for (size_t i = 0; i < n->count; i++) {
		const char *text, **larger;

		if (!reader_string(r, n->items[i], what, &text))
			continue;
		larger = arena_grow(r->arena, *strings, *count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		larger[(*count)++] = text;
		*strings = larger;
	}
	return 0;
}

const struct place *reader_place_of(const struct node *list, const char *string)
{
	/* Strings are not copied, so the address identifies the list item. */
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->text == string)
			return &list->items[i]->place;
	return &list->place;
}

bool reader_number(struct reader *r, const struct node *n, const char *what, uint64_t maximum,
		   uint64_t *ret_number)
{
	uint64_t number;

	if (n->type != NODE_SCALAR || !n->plain || units_number(n->text, &number) == -EINVAL) {
		report_error(r->diagnostics, &n->place,
			     n->type == NODE_SCALAR && !n->plain ? "remove the quotes"
								 : "write digits only",
			     "%s must be a whole number, not %s", what,
			     n->type == NODE_SCALAR && n->plain && n->size ? n->text
									   : node_describe(n));
		return false;
	}
	if (units_number(n->text, &number) < 0 || number > maximum) {
		report_error(r->diagnostics, &n->place, "write a smaller number",
			     "%s must be at most %llu", what, (unsigned long long)maximum);
		return false;
	}
	*ret_number = number;
	return true;
}

const char *reader_word_hint(struct reader *r, const struct word *table, const char *text)
{
	const char *names[64], *closest, *hint = "one of: ";
	size_t count = 0;

	for (; table[count].text && count < ARRAY_SIZE(names); count++)
		names[count] = table[count].text;
	closest = suggest(text, names, count);
	if (closest)
		return arena_printf(r->arena, "did you mean \"%s\"?", closest);
	for (size_t i = 0; i < count && hint; i++)
		hint = arena_printf(r->arena, "%s%s%s", hint, i ? ", " : "", names[i]);
	return hint;
}

bool reader_boolean(struct reader *r, const struct node *n, const char *what, const char *hint,
		    bool *ret_value)
{
	if (n->type != NODE_SCALAR || !n->plain ||
	    (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0)) {
		report_error(r->diagnostics, &n->place, hint, "%s must be true or false", what);
		return false;
	}
	*ret_value = n->text[0] == 't';
	return true;
}

bool reader_word(struct reader *r, const struct node *n, const char *what, const struct word *table,
		 uint32_t *ret_value)
{
	const struct word *w;

	if (n->type != NODE_SCALAR || node_is_null(n)) {
		report_error(r->diagnostics, &n->place, reader_word_hint(r, table, ""),
			     "%s must be a word, not %s", what, node_describe(n));
		return false;
	}
	w = words_find(table, n->text);
	if (!w) {
		report_error(r->diagnostics, &n->place, reader_word_hint(r, table, n->text),
			     "unknown %s \"%s\"", what, n->text);
		return false;
	}
	*ret_value = w->value;
	return true;
}
