/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a table of accesses and the verdicts that a policy must give. */
#include "policy/ask/table_test.h"

#include <string.h>

#include "policy/ask/question.h"
#include "policy/source/reader.h"

struct table {
	const struct policy_search *search;
	struct compiled_policy *policy;
	const char *directories[CORDON_MAX_ANCHORS];
	struct table_result result;
};

static void table_release(struct table *t)
{
	compiled_policy_free(t->policy);
}

/* One entry of the list `tests`. */
struct entry {
	struct table *table;
	const char *right;
	const struct node *objects;
	const char *rule; /* a part of FILE:LINE of the rule that decides, or NULL */
	uint32_t allow;
	uint32_t own; /* rights for objects that the execution has created itself */
	bool has_verdict;
};

static int compile(struct reader *r, struct table *t, const struct node *n)
{
	const char *name, *slash = strrchr(n->place.source->path, '/');
	size_t errors = diagnostics_errors(r->diagnostics);
	int e;

	if (!reader_string(r, n, "the policy's name", &name))
		return 0;
	if (strchr(name, '/') && *name != '/' && slash) {
		name = arena_printf(r->arena, "%.*s/%s", (int)(slash - n->place.source->path),
				    n->place.source->path, name);
		if (!name)
			return -ENOMEM;
	}
	e = policy_check(name, t->search, r->diagnostics, &t->policy);
	if (e < 0 && e != -ENOMEM && errors == diagnostics_errors(r->diagnostics))
		report_error(r->diagnostics, &n->place,
			     "correct the policy first: cordon policy check",
			     "cannot compile \"%s\": %s", name, strerror(-e));
	return e == -ENOMEM ? e : 0;
}

static int read_policy_name(struct reader *r, const struct node *n, void *target)
{
	return compile(r, target, n);
}

/* It is read once the policy is known, so the order of keys does not matter. */
static int skip(struct reader *r, const struct node *n, void *target)
{
	(void)r;
	(void)n;
	(void)target;
	return 0;
}

static int bind_variables(struct reader *r, struct table *t, const struct node *n)
{
	if (!n ||
	    !reader_expect(r, n, NODE_MAPPING, "a mapping", "write variables: {workdir: /srv/job}"))
		return 0;
	for (size_t i = 0; i < n->count; i += 2) {
		const struct node *name = n->items[i];
		const char *directory;
		bool found = false;

		if (!reader_string(r, n->items[i + 1], "a directory", &directory))
			continue;
		if (*directory != '/')
			report_error(r->diagnostics, &n->items[i + 1]->place,
				     "start it with a slash", "\"%s\" is not an absolute path",
				     directory);
		for (size_t a = 0; a < CORDON_MAX_ANCHORS; a++)
			if (t->policy->anchor_names[a] &&
			    strcmp(t->policy->anchor_names[a], name->text) == 0) {
				t->directories[a] = directory;
				found = true;
			}
		if (!found)
			report_error(r->diagnostics, &name->place,
				     "name it below variables: of the policy, or remove it here",
				     "the policy has no variable \"%s\"", name->text);
	}
	return 0;
}

static int read_verdict(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"deny", 0}, {"allow", 1}, {NULL, 0}};
	struct entry *e = target;

	e->has_verdict = reader_word(r, n, "verdict", words, &e->allow);
	return 0;
}

static int read_rule(struct reader *r, const struct node *n, void *target)
{
	reader_string(r, n, "a rule's file and line", &((struct entry *)target)->rule);
	return 0;
}

static int read_own(struct reader *r, const struct node *n, void *target)
{
	static const struct word words[] = {{"false", 0}, {"true", 1}, {NULL, 0}};

	reader_word(r, n, "value for own", words, &((struct entry *)target)->own);
	return 0;
}

static int set_right(struct reader *r, const struct node *n, void *target, const char *right)
{
	struct entry *e = target;

	if (e->right)
		report_error(r->diagnostics, &n->place, "write two tests",
			     "a test checks one right, not \"%s\" and \"%s\"", e->right, right);
	e->right = right;
	e->objects = n;
	return 0;
}

#define RIGHT(name)                                                                                \
	static int read_##name(struct reader *r, const struct node *n, void *target)               \
	{                                                                                          \
		return set_right(r, n, target, #name);                                             \
	}
RIGHT(read)
RIGHT(list)
RIGHT(write)
RIGHT(create)
RIGHT(symlink)
RIGHT(delete)
RIGHT(run)
RIGHT(map)
RIGHT(connect)
RIGHT(bind)
RIGHT(listen)
RIGHT(socket)
RIGHT(host)

static int check_object(struct reader *r, const struct entry *e, const struct node *n)
{
	_cleanup_(question_release) struct policy_question q = {0};
	struct table *t = e->table;
	char error[QUESTION_ERROR_TEXT], by[512] = "no rule";
	struct policy_answer a = {};
	const char *object;
	bool allowed, other;
	uint32_t rule;
	int x;

	if (!reader_string(r, n, "an object", &object))
		return 0;
	x = question_read(t->policy, e->right, object, t->directories, &q, error);
	if (x == -EINVAL)
		report_error(r->diagnostics, &n->place, NULL, "%s", error);
	if (x == 0)
		x = question_judge(t->policy, &q, &a);
	if (x == 0 && e->own)
		(void)question_allowed_if_own(t->policy, &q, &a);
	if (x < 0)
		return x == -EINVAL ? 0 : x;
	allowed = a.missing == 0;
	rule = a.rule[q.right];
	if (rule < t->policy->rule_count)
		snprintf(by, sizeof(by), "%s:%u: %s", t->policy->rules[rule].file,
			 t->policy->rules[rule].line, t->policy->rules[rule].text);
	other = e->rule && !strstr(by, e->rule);
	if (allowed == (e->allow != 0) && !other) {
		t->result.passed++;
		return 0;
	}
	t->result.failed++;
	report_error(r->diagnostics, &n->place, NULL, "%s %s is %s by %s, expected %s%s%s",
		     e->right, object, allowed ? "allowed" : "denied", by,
		     e->allow ? "allow" : "deny", e->rule ? " by " : "", e->rule ? e->rule : "");
	return 0;
}

static int run_entry(struct reader *r, struct table *t, const struct node *n)
{
	static const struct key keys[] = {
		{"verdict", read_verdict},
		{"rule", read_rule},
		{"read", read_read},
		{"list", read_list},
		{"write", read_write},
		{"create", read_create},
		{"symlink", read_symlink},
		{"delete", read_delete},
		{"run", read_run},
		{"map", read_map},
		{"connect", read_connect},
		{"bind", read_bind},
		{"listen", read_listen},
		{"socket", read_socket},
		{"host", read_host},
		{"own", read_own},
		{NULL, NULL},
	};
	struct entry e = {.table = t};
	size_t errors = diagnostics_errors(r->diagnostics);
	int x = reader_mapping(r, n, "a test", keys, &e);

	if (x < 0 || errors != diagnostics_errors(r->diagnostics))
		return x;
	if (!e.right || !e.has_verdict) {
		report_error(r->diagnostics, &n->place,
			     "write {read: [/etc/hosts], verdict: allow}",
			     e.right ? "the test expects no verdict"
				     : "the test does not check anything");
		return 0;
	}
	if (!reader_expect(r, e.objects, NODE_SEQUENCE, "a list", "write read: [/etc/hosts]"))
		return 0;
	for (size_t i = 0; i < e.objects->count && x == 0; i++)
		x = check_object(r, &e, e.objects->items[i]);
	return x;
}

static int run_tests(struct reader *r, struct table *t, const struct node *root)
{
	const struct node *list = node_get(root, "tests");
	int x;

	x = bind_variables(r, t, node_get(root, "variables"));
	if (x < 0)
		return x;
	if (!list || list->type != NODE_SEQUENCE || list->count == 0) {
		report_error(r->diagnostics, list ? &list->place : &root->place,
			     "write tests: [{read: [/etc/hosts], verdict: allow}]",
			     "the table has no tests");
		return 0;
	}
	for (size_t i = 0; i < list->count && x == 0; i++)
		x = run_entry(r, t, list->items[i]);
	return x;
}

static int run_table(struct reader *r, struct table *t, const struct node *root)
{
	static const struct key keys[] = {
		{"policy", read_policy_name},
		{"variables", skip},
		{"tests", skip},
		{NULL, NULL},
	};
	size_t errors = diagnostics_errors(r->diagnostics);
	int x = reader_mapping(r, root, "a table of tests", keys, t);

	if (x < 0 || root->type != NODE_MAPPING)
		return x;
	if (!node_get(root, "policy"))
		report_error(r->diagnostics, &root->place, "add policy: NAME",
			     "the table names no policy");
	if (!t->policy || errors != diagnostics_errors(r->diagnostics))
		return 0;
	return run_tests(r, t, root);
}

int table_test_run(const char *path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct table_result *ret_result)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	_cleanup_(table_release) struct table t = {.search = search};
	struct reader r = {a, diagnostics, NULL};
	struct source unread = {.name = path}, *source = NULL;
	struct place whole = {&unread, 0, 0};
	struct node *root = NULL;
	int x;

	if (!a)
		return -ENOMEM;
	x = source_read(a, path, path, &source);
	if (x < 0) {
		report_error(diagnostics, &whole, NULL, "cannot read the table: %s", strerror(-x));
		return x;
	}
	x = node_parse(a, source, diagnostics, &root);
	whole.source = source;
	if (x == 0 && !root)
		report_error(diagnostics, &whole, "start with policy: NAME", "the file is empty");
	if (x == 0 && root)
		x = run_table(&r, &t, root);
	if (x < 0)
		return x;
	if (diagnostics_failed(diagnostics))
		return -ENOMEM;
	if (diagnostics_errors(diagnostics) > t.result.failed)
		return -EINVAL;
	*ret_result = t.result;
	return 0;
}
