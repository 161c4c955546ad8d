/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sections files, exec and unix: rules over names. */
#include <string.h>

#include "policy/source/read_rules.h"

int read_severity(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;
	uint32_t level;

	if (reader_word(r, n, "severity", words_severities, &level))
		rule->severity = words_name(words_severities, level);
	return 0;
}

int read_message(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;
	const char *text;

	if (reader_string(r, n, "message", &text))
		rule->message = text;
	return 0;
}

int read_tags(struct reader *r, const struct node *n, void *target)
{
	struct rule *rule = target;

	return reader_strings(r, n, "a tag", "[credentials]", &rule->tags, &rule->tag_count);
}

static int read_rights(struct reader *r, const struct node *n, struct rule *rule, bool deny)
{
	const struct word *table = words_rights(rule->kind);
	const char *key = deny ? "deny" : "allow";

	if (rule->has_rights) {
		report_error(r->diagnostics, &n->place, "write two rules",
			     "a rule has either \"allow\" or \"deny\", not both");
		return 0;
	}
	rule->has_rights = true;
	rule->deny = deny;
	if (n->type != NODE_SEQUENCE || n->count == 0) {
		const char *hint = arena_printf(r->arena, "write a list of rights: %s: [%s]", key,
						n->type == NODE_SCALAR && words_find(table, n->text)
							? n->text
							: table[0].text);

		if (!hint)
			return -ENOMEM;
		report_error(r->diagnostics, &n->place, hint, "\"%s\" must be a list, not %s", key,
			     n->count			? node_describe(n)
			     : n->type == NODE_SEQUENCE ? "an empty one"
							: node_describe(n));
		return 0;
	}
	for (size_t i = 0; i < n->count; i++) {
		uint32_t rights;

		if (reader_word(r, n->items[i], "right", table, &rights))
			rule->rights |= rights;
	}
	return 0;
}

int read_allow(struct reader *r, const struct node *n, void *target)
{
	return read_rights(r, n, target, false);
}

int read_deny(struct reader *r, const struct node *n, void *target)
{
	return read_rights(r, n, target, true);
}

static int add_name(struct reader *r, struct rule *rule, const struct node *n, bool abstract)
{
	struct rule_name *names;
	const char *text;

	if (!reader_string(r, n, abstract ? "an abstract name" : "a path", &text))
		return 0;
	names = arena_grow(r->arena, rule->names, rule->name_count, sizeof(*names));
	if (!names)
		return -ENOMEM;
	names[rule->name_count++] = (struct rule_name){text, n->size, n->place, abstract};
	rule->names = names;
	return 0;
}

static int read_names(struct reader *r, const struct node *n, struct rule *rule, bool abstract,
		      const char *hint)
{
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list", hint))
		return 0;
	if (n->count == 0)
		report_error(r->diagnostics, &n->place, hint, "the list is empty");
	for (size_t i = 0; i < n->count; i++) {
		int e = add_name(r, rule, n->items[i], abstract);

		if (e < 0)
			return e;
	}
	return 0;
}

static int read_paths(struct reader *r, const struct node *n, void *target)
{
	return read_names(r, n, target, false, "write a list: paths: [/usr/lib/**]");
}

static int read_abstract(struct reader *r, const struct node *n, void *target)
{
	return read_names(r, n, target, true, "write a list: abstract: [name]");
}

int add_rule(struct reader *r, struct rule *rule)
{
	struct rule **rules;

	if (r->model->rule_count >= MODEL_RULES_MAX) {
		if (r->model->rule_count == MODEL_RULES_MAX)
			report_error(r->diagnostics, &rule->place,
				     "join rules: one may name many paths", "more than %u rules",
				     MODEL_RULES_MAX);
		return 0;
	}
	rules = arena_grow(r->arena, r->model->rules, r->model->rule_count, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	rules[r->model->rule_count++] = rule;
	r->model->rules = rules;
	return 0;
}

bool check_rights_given(struct reader *r, const struct rule *rule, const char *example)
{
	if (!rule->has_rights)
		report_error(r->diagnostics, &rule->place, example,
			     "the rule neither allows nor denies");
	return rule->has_rights;
}

int read_rules(struct reader *r, const struct node *n, const char *what, enum rule_kind kind,
	       const struct key *keys, int (*finish)(struct reader *r, struct rule *rule))
{
	if (!reader_expect(r, n, NODE_SEQUENCE, "a list of rules", "start each rule with \"- \""))
		return 0;
	for (size_t i = 0; i < n->count; i++) {
		struct rule *rule = arena_alloc(r->arena, sizeof(*rule));
		size_t errors = diagnostics_errors(r->diagnostics);
		int e;

		if (!rule)
			return -ENOMEM;
		rule->kind = kind;
		rule->place = n->items[i]->place;
		e = reader_mapping(r, n->items[i], what, keys, rule);
		if (e == 0 && n->items[i]->type == NODE_MAPPING &&
		    errors == diagnostics_errors(r->diagnostics))
			e = finish(r, rule);
		if (e == 0)
			e = add_rule(r, rule);
		if (e < 0)
			return e;
	}
	return 0;
}

/* Whether the rule applies to files that have further names (hard links). */
static int read_links(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {
		{"own", 0},
		{"shared", CORDON_RIGHT(CORDON_LINKS)},
		{NULL, 0},
	};
	struct rule *rule = target;
	uint32_t right;

	if (reader_word(r, n, "value for links", words, &right) && right)
		rule->links_place = n->place;
	return 0;
}

/* `links: shared`: files that may be written may have further names. */
static void add_links(struct reader *r, struct rule *rule)
{
	if (!rule->links_place.line)
		return;
	if (rule->deny || !(rule->rights & CORDON_RIGHT(CORDON_WRITE)))
		report_error(r->diagnostics, &rule->links_place,
			     "write {allow: [write], paths: [...], links: shared}",
			     "\"links\" is for rules that allow \"write\"");
	else
		rule->rights |= CORDON_RIGHT(CORDON_LINKS);
}

static int read_except_names(struct reader *r, const struct node *n, void *target)
{
	return read_names(r, n, target, false, "write a list: except: [\"${workdir}/.env\"]");
}

int read_exceptions(struct reader *r, const struct node *n, struct rule **ret_rule)
{
	static const struct key keys[] = {{"except", read_except_names}, {NULL, NULL}};
	struct rule *rule = arena_alloc(r->arena, sizeof(*rule));
	size_t errors = diagnostics_errors(r->diagnostics);
	int e;

	if (!rule)
		return -ENOMEM;
	*rule = (struct rule){
		.kind = RULE_FILES,
		.except = true,
		.except_from = n->items[0]->text,
		.rights = CORDON_FILE_RIGHTS | CORDON_EXEC_RIGHTS | CORDON_UNIX_RIGHTS,
		.place = n->place,
	};
	e = reader_mapping(r, n->items[1], "an include", keys, rule);
	if (e < 0 || errors != diagnostics_errors(r->diagnostics))
		return e;
	if (rule->name_count == 0)
		report_error(r->diagnostics, &n->place, EXCEPT_HINT,
			     "the include names no exception");
	else
		*ret_rule = rule;
	return 0;
}

int add_exceptions(struct reader *r, struct rule *rule, const struct source *source)
{
	for (size_t i = 0; i < r->model->rule_count; i++) {
		struct rule *other = r->model->rules[i];

		other->yields = other->deny && other->place.source == source;
	}
	r->model->except = rule;
	return add_rule(r, rule);
}

static int finish_names(struct reader *r, struct rule *rule)
{
	if (!check_rights_given(r, rule,
				rule->kind == RULE_FILES ? "write {allow: [read], paths: [...]}"
							 : "write {allow: [run], paths: [...]}"))
		return 0;
	if (rule->name_count == 0)
		report_error(r->diagnostics, &rule->place, "add paths: [...]",
			     "the rule names no path");
	add_links(r, rule);
	return 0;
}

static int finish_unix(struct reader *r, struct rule *rule)
{
	if (!check_rights_given(r, rule, "write {allow: [connect], paths: [...]}"))
		return 0;
	if (rule->name_count == 0)
		report_error(r->diagnostics, &rule->place, "add paths: [...] or abstract: [...]",
			     "the rule names no socket");
	for (size_t i = 0; i < rule->name_count; i++) {
		if (rule->names[i].abstract || !(rule->rights & CORDON_RIGHT(CORDON_UNIX_BIND)))
			continue;
		report_error(r->diagnostics, &rule->names[i].place,
			     "binding to a path creates a file: use \"create\" in a rule under "
			     "files",
			     "\"bind\" is for abstract names only");
	}
	return 0;
}

static const struct key path_keys[] = {
	{"allow", read_allow},
	{"deny", read_deny},
	{"paths", read_paths},
	{"severity", read_severity},
	{"message", read_message},
	{"tags", read_tags},
	{NULL, NULL},
};

int read_file_rules(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"allow", read_allow},	     {"deny", read_deny},
		{"paths", read_paths},	     {"links", read_links},
		{"severity", read_severity}, {"message", read_message},
		{"tags", read_tags},	     {NULL, NULL},
	};

	(void)target;
	return read_rules(r, n, "a file rule", RULE_FILES, keys, finish_names);
}

int read_exec_rules(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	return read_rules(r, n, "an exec rule", RULE_EXEC, path_keys, finish_names);
}

int read_unix_rules(struct reader *r, const struct node *n, void *target)
{
	static const struct key keys[] = {
		{"allow", read_allow},	     {"deny", read_deny},
		{"paths", read_paths},	     {"abstract", read_abstract},
		{"severity", read_severity}, {"message", read_message},
		{"tags", read_tags},	     {NULL, NULL},
	};

	(void)target;
	return read_rules(r, n, "a unix rule", RULE_UNIX, keys, finish_unix);
}
