/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the top level of a policy file. */
#include <string.h>

#include "policy/source/reader.h"

static bool is_identifier(const char *text, size_t maximum)
{
	return *text && strlen(text) <= maximum &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(text) &&
	       *text != '.' && *text != '-';
}

static int read_version(struct reader *r, const struct node *n, void *target)
{
	(void)target;
	if (n->type != NODE_SCALAR || strcmp(n->text, "1") != 0)
		report_error(r->diagnostics, &n->place, "write version: 1",
			     "this cordon reads policy version 1 only");
	return 0;
}

static int read_name(struct reader *r, const struct node *n, void *target)
{
	const char *text;

	(void)target;
	if (!reader_string(r, n, "name", &text))
		return 0;
	if (!is_identifier(text, 64)) {
		report_error(r->diagnostics, &n->place,
			     "at most 64 letters, digits, and _ . - inside",
			     "\"%s\" is no name for a policy", text);
		return 0;
	}
	if (!r->model->fragment)
		r->model->name = text;
	return 0;
}

static int read_description(struct reader *r, const struct node *n, void *target)
{
	const char *text;

	(void)target;
	if (reader_string(r, n, "description", &text) && !r->model->fragment)
		r->model->description = text;
	return 0;
}

static int read_mode(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"enforce", 0}, {"observe", 1}, {NULL, 0}};
	uint32_t value;

	(void)target;
	if (reader_word(r, n, "mode", words, &value))
		r->model->observe = value;
	return 0;
}

/* This key is read before all others, see read_policy(). */
static int read_fragment(struct reader *r, const struct node *n, void *target)
{
	bool value;

	(void)target;
	(void)reader_boolean(r, n, "fragment", "write fragment: true in files to be included",
			     &value);
	return 0;
}

/* The loader handles this key, because it has the search directories. */
static int skip_file(struct reader *r, const struct node *n, void *target)
{
	(void)r;
	(void)n;
	(void)target;
	return 0;
}

/* The number of a variable; CORDON_MAX_ANCHORS: unknown. */
static size_t find_variable(const struct model *m, const char *name)
{
	size_t i = 0;

	while (i < CORDON_MAX_ANCHORS && (!m->anchors[i] || strcmp(m->anchors[i], name) != 0))
		i++;
	return i;
}

/*
 * Variables of the policy are numbered upwards from the first free number, and variables of its
 * fragments downwards from the last. So another fragment does not change the policy's numbers. 0:
 * none is free.
 */
static size_t free_variable(const struct model *m)
{
	size_t i = m->fragment ? CORDON_MAX_ANCHORS - 1 : CORDON_ANCHOR_USER;

	while (i >= CORDON_ANCHOR_USER && i < CORDON_MAX_ANCHORS && m->anchors[i])
		i = m->fragment ? i - 1 : i + 1;
	return i >= CORDON_ANCHOR_USER && i < CORDON_MAX_ANCHORS ? i : 0;
}

static int read_variables(struct reader *r, const struct node *n, void *target)
{
	const char **names = NULL;
	size_t count = 0;
	int e = reader_strings(r, n, "a variable", "variables: [dataset]", &names, &count);

	(void)target;
	if (e < 0)
		return e;
	for (size_t i = 0; i < count; i++) {
		const struct place *place = reader_place_of(n, names[i]);
		size_t known = find_variable(r->model, names[i]), next = free_variable(r->model);

		/* Two fragments may use the same directory variable. */
		if (r->model->fragment && known >= CORDON_ANCHOR_USER && known < CORDON_MAX_ANCHORS)
			continue;
		if (known < CORDON_MAX_ANCHORS) {
			report_error(
				r->diagnostics, place,
				"choose another name; workdir, tmp and home are there in any case",
				"the variable \"%s\" exists already", names[i]);
		} else if (!is_identifier(names[i], 32)) {
			report_error(r->diagnostics, place,
				     "at most 32 letters, digits, and _ . - inside",
				     "\"%s\" is no name for a variable", names[i]);
		} else if (next == 0) {
			report_error(r->diagnostics, place,
				     "put directories below one that is bound, such as ${x}/data",
				     "more than %u variables",
				     CORDON_MAX_ANCHORS - CORDON_ANCHOR_USER);
			return 0;
		} else {
			r->model->anchors[next] = names[i];
		}
	}
	return 0;
}

static bool is_user_or_group(const char *text)
{
	return is_identifier(text[0] == '@' ? text + 1 : text, 64);
}

/* Checks only the syntax. The users of a host are only known to its daemon. */
static int read_run_by(struct reader *r, const struct node *n, void *target)
{
	const char **names = NULL;
	size_t count = 0;
	int e = reader_strings(r, n, "a user or group", "run_by: [alice, \"@cordon\"]", &names,
			       &count);

	(void)target;
	if (e < 0)
		return e;
	for (size_t i = 0; i < count; i++)
		if (!is_user_or_group(names[i]))
			report_error(r->diagnostics, reader_place_of(n, names[i]),
				     "write alice for a user, \"@agents\" for a group",
				     "\"%s\" is no name of a user or group", names[i]);
	r->model->run_by = names;
	r->model->run_by_count = count;
	return 0;
}

static const struct key policy_keys[] = {
	{"version", read_version},
	{"name", read_name},
	{"description", read_description},
	{"mode", read_mode},
	{"fragment", read_fragment},
	{"include", skip_file},
	{"amends", skip_file},
	{"variables", read_variables},
	{"files", read_file_rules},
	{"exec", read_exec_rules},
	{"unix", read_unix_rules},
	{"network", read_network_rules},
	{"process", read_process},
	{"coverage", read_coverage},
	{"limits", read_limits},
	{"environment", read_environment},
	{"audit", read_audit},
	{"on_denial", read_on_denial},
	{"ask", read_ask},
	{"run_by", read_run_by},
	{NULL, NULL},
};

/* An amending file may set `temporary` only, which widens nothing except the execution's files. */
static void refuse_process(struct reader *r, const struct node *process)
{
	for (size_t i = 0; process->type == NODE_MAPPING && i < process->count; i += 2)
		if (strcmp(process->items[i]->text, "temporary") != 0)
			report_error(r->diagnostics, &process->items[i]->place,
				     "move it to the policy that is amended",
				     "in \"process\", a file that amends a policy may set "
				     "\"temporary\" only");
}

/* Keys that are not allowed in a fragment, because the including policy decides them. */
static void refuse_in_fragment(struct reader *r, const struct node *root)
{
	static const char *const names[] = {"mode",  "process",	  "limits", "coverage",
					    "audit", "on_denial", "run_by", "ask"};
	bool amends = node_get(root, "amends") != NULL;

	for (size_t i = 0; i < root->count; i += 2) {
		const char *key = root->items[i]->text;

		if (amends && strcmp(key, "process") == 0)
			refuse_process(r, root->items[i + 1]);
		if (amends && (strcmp(key, "process") == 0 || strcmp(key, "limits") == 0))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (strcmp(key, names[j]) == 0)
				report_error(r->diagnostics, &root->items[i]->place,
					     "move it to the policies that include this file",
					     "a fragment must not set \"%s\"", names[j]);
	}
	if (amends && node_get(root, "variables"))
		report_error(r->diagnostics, &node_get(root, "variables")->place,
			     "move it to the policy that is amended",
			     "a file that amends a policy must not set \"variables\"");
}

int read_policy(struct reader *r, const struct node *root)
{
	const struct node *fragment;

	if (root->type != NODE_MAPPING) {
		report_error(r->diagnostics, &root->place, "start with version: 1",
			     "a policy must be a mapping (key: value), not %s",
			     node_describe(root));
		return 0;
	}
	if (!node_get(root, "version"))
		report_error(r->diagnostics, &root->place, "add version: 1",
			     "the policy has no version");
	fragment = node_get(root, "fragment");
	r->model->fragment = fragment && fragment->type == NODE_SCALAR && fragment->plain &&
			     strcmp(fragment->text, "true") == 0;
	if (r->model->fragment)
		r->model->fragment_place = fragment->place;
	/* A file that amends a policy only adds rules, like an included file. */
	r->model->fragment |= node_get(root, "amends") != NULL;
	if (r->model->fragment)
		refuse_in_fragment(r, root);
	return reader_mapping(r, root, "a policy", policy_keys, NULL);
}
