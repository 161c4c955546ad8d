/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles policy files into the kernel's tables. */
#include "policy/compile/compile.h"

#include <inttypes.h>
#include <string.h>

#include "base/suggest.h"
#include "base/hex.h"
#include "policy/automaton/automaton.h"
#include "policy/automaton/describe.h"
#include "policy/automaton/effect.h"
#include "policy/source/host_paths.h"
#include "policy/source/load.h"
#include "policy/automaton/lower.h"
#include "policy/source/search.h"
#include "policy/automaton/share.h"
#include "policy/compile/tables.h"
#include "policy/source/words.h"

/* ---- copies that outlive the arena ---- */

static int copy_string(const char *text, char **ret_copy)
{
	if (!text)
		return 0;
	*ret_copy = strdup(text);
	return *ret_copy ? 0 : -ENOMEM;
}

static int copy_strings(const char *const *strings, size_t count, char ***ret_copies)
{
	char **copies = calloc(count + 1, sizeof(*copies));

	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		copies[i] = strdup(strings[i]);
		if (!copies[i]) {
			compiled_strings_free(copies);
			return -ENOMEM;
		}
	}
	*ret_copies = copies;
	return 0;
}

static int copy_rule(const struct rule *rule, struct policy_rule *copy)
{
	copy->line = rule->place.line;
	copy->text = describe_rule(rule);
	if (!copy->text || copy_string(rule->place.source->name, &copy->file) < 0 ||
	    copy_string(rule->severity, &copy->severity) < 0 ||
	    copy_string(rule->message, &copy->message) < 0)
		return -ENOMEM;
	return rule->tag_count ? copy_strings(rule->tags, rule->tag_count, &copy->tags) : 0;
}

static int copy_rules(const struct model *m, struct compiled_policy *p)
{
	p->rules = calloc(m->rule_count + 1, sizeof(*p->rules));
	if (!p->rules)
		return -ENOMEM;
	p->rule_count = m->rule_count;
	for (size_t i = 0; i < m->rule_count; i++) {
		int r = copy_rule(m->rules[i], &p->rules[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int copy_environment(const struct model *m, struct policy_environment *e)
{
	int r = copy_strings(m->keep, m->keep_count, &e->keep);

	e->keep_all = m->observe && !m->keep_given;
	for (size_t i = 0; i < m->keep_count; i++)
		e->keep_all |= strcmp(m->keep[i], "*") == 0;
	if (r == 0)
		r = copy_strings(m->set_names, m->set_count, &e->set_names);
	if (r == 0)
		r = copy_strings(m->set_values, m->set_count, &e->set_values);
	return r;
}

static int copy_model(const struct model *m, const char *path, struct compiled_policy *p)
{
	int r = copy_string(m->name, &p->name);

	if (r == 0)
		r = copy_string(path, &p->file);
	if (r == 0)
		r = copy_string(m->description, &p->description);
	for (size_t i = 0; r == 0 && i < CORDON_MAX_ANCHORS; i++)
		r = copy_string(m->anchors[i], &p->anchor_names[i]);
	if (r == 0)
		r = copy_rules(m, p);
	if (r == 0)
		r = copy_environment(m, &p->environment);
	if (r == 0 && m->run_by_count)
		r = copy_strings(m->run_by, m->run_by_count, &p->run_by);
	p->limits = m->limits;
	p->arguments = m->arguments;
	p->observe = m->observe;
	return r;
}

/* ---- reports on the automaton ---- */

/*
 * Fragments are shared by many policies, so a fragment's rule may repeat or be overridden by a rule
 * of another file. A warning only appears for rules of the root, or if the same file makes the rule
 * useless.
 */
static bool is_worth_a_warning(const struct model *m, const struct source *root, size_t rule,
			       const struct rule_use *use)
{
	const struct rule *r = m->rules[rule];

	if (r->place.source == root)
		return true;
	return use->decided_by < m->rule_count &&
	       m->rules[use->decided_by]->place.source == r->place.source;
}

/* The verdict at the end of a name. */
static const struct cordon_verdict *verdict_of(const struct automaton *a, unsigned int start,
					       const char *name)
{
	uint32_t state = a->start[start];

	for (; *name; name++) {
		uint32_t i = a->first[state];

		while (a->segments[i].last < (uint8_t)*name)
			i++;
		state = a->segments[i].target;
	}
	return &a->verdicts[a->verdict[state]];
}

/* Finds a name's text without its prefix, and its start state. NULL: the name has wildcards. */
static const char *plain_name(const struct model *m, const struct rule_name *name,
			      unsigned int *ret_start)
{
	const char *text = name->text, *close = strchr(text, '}');

	*ret_start = CORDON_START_PATH;
	if (name->abstract)
		return NULL;
	for (unsigned int i = 0; text[0] == '$' && close && i < CORDON_MAX_ANCHORS; i++) {
		const char *anchor = m->anchors[i];

		if (!anchor || strlen(anchor) != (size_t)(close - text) - 2 ||
		    memcmp(anchor, text + 2, strlen(anchor)) != 0)
			continue;
		*ret_start = CORDON_START_ANCHOR + i;
		text = close + 1;
		break;
	}
	return text[0] == '/' && !strpbrk(text, "*?[{\\$") ? text : NULL;
}

/*
 * The single deny rule that overrides everything this rule allows. CORDON_NO_RULE: there is none,
 * or more than one.
 */
static uint32_t denied_by(const struct model *m, const struct automaton *a, const struct rule *rule)
{
	uint32_t by = CORDON_NO_RULE;

	for (size_t i = 0; i < rule->name_count; i++) {
		unsigned int start;
		const char *name = plain_name(m, &rule->names[i], &start);
		const struct cordon_verdict *runs[2];

		if (!name)
			return CORDON_NO_RULE;
		runs[0] = verdict_of(a, start, name);
		runs[1] = verdict_of(a, CORDON_START_FLOATING, name);
		if (rule->rights & ~(runs[0]->deny | runs[1]->deny))
			return CORDON_NO_RULE;
		for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
			if (rule->rights & CORDON_RIGHT(right))
				by = runs[runs[0]->deny & CORDON_RIGHT(right) ? 0 : 1]->rule[right];
	}
	return by;
}

static void warn_of_idle_rules(const struct model *m, const struct automaton *a,
			       const struct source *root, const struct rule_use *use,
			       struct diagnostics *d)
{
	for (size_t i = 0; i < m->rule_count; i++) {
		const struct rule *other;
		uint32_t by;

		if (use[i].decides || !is_worth_a_warning(m, root, i, &use[i]))
			continue;
		by = m->rules[i]->deny ? CORDON_NO_RULE : denied_by(m, a, m->rules[i]);
		if (by < m->rule_count) {
			report_warning(
				d, &m->rules[i]->place,
				"a deny wins over every allow: narrow that one",
				"this rule decides nothing: the rule at %s:%u denies all it names",
				m->rules[by]->place.source->name, m->rules[by]->place.line);
			continue;
		}
		if (use[i].decided_by >= m->rule_count) {
			report_warning(d, &m->rules[i]->place, "remove it, or correct its names",
				       "this rule decides nothing: other rules cover all it "
				       "names");
			continue;
		}
		other = m->rules[use[i].decided_by];
		report_warning(d, &m->rules[i]->place,
			       other->deny && !m->rules[i]->deny
				       ? "a deny wins over every allow: narrow one of the two"
				       : "remove it",
			       "this rule decides nothing: the rule at %s:%u covers all it names",
			       other->place.source->name, other->place.line);
	}
}

#define BLAMED_MAX 3

static size_t heaviest_rule(const struct rule_use *use, size_t count)
{
	size_t heaviest = 0;

	for (size_t i = 1; i < count; i++)
		if (use[i].weight > use[heaviest].weight)
			heaviest = i;
	return heaviest;
}

/*
 * Reports the rules that made most of the states, and the number of states at the point of giving
 * up.
 */
static void report_explosion(const struct model *m, const struct place *whole, struct rule_use *use,
			     const struct automaton_effort *effort, struct diagnostics *d)
{
	size_t heaviest = heaviest_rule(use, m->rule_count);
	uint64_t all = 1;

	for (size_t i = 0; i < m->rule_count; i++)
		all += use[i].weight;
	report_error(d, m->rule_count ? &m->rules[heaviest]->place : whole,
		     "patterns with several ** or *, {...} and ? multiply with each other: make "
		     "some of them start with a fixed directory",
		     "the rules multiply: given up at %" PRIu64 " states of %" PRIu64
		     " members, after %" PRIu64 " steps",
		     effort->states, effort->members, effort->steps);
	for (int i = 0; i < BLAMED_MAX && m->rule_count > 0 && use[heaviest].weight > 0; i++) {
		report_error(d, &m->rules[heaviest]->place,
			     "split its patterns, or use fewer wildcards in each",
			     "this rule makes %" PRIu64 " %% of the last states' members",
			     use[heaviest].weight * 100 / all);
		use[heaviest].weight = 0;
		heaviest = heaviest_rule(use, m->rule_count);
	}
}

static void report_too_big(const struct place *whole, const char *what, unsigned int limit,
			   struct diagnostics *d)
{
	report_error(d, whole, "use fewer rules, or ** in place of lists", "the policy needs %s %u",
		     what, limit);
}

/* ---- compilation ---- */

/* The arena owns everything else. */
struct policy_written {
	struct arena *arena;
	const struct model *model;
	const struct source *root;
};

static int make_tables(struct arena *a, const struct model *m, const struct source *root,
		       struct diagnostics *d, struct compiled_policy *p)
{
	_cleanup_(nfa_freep) struct nfa *tries = NULL, *nfa = NULL;
	_cleanup_(automaton_freep) struct automaton *large = NULL, *small = NULL;
	_cleanup_(freep) struct rule_use *use = calloc(m->rule_count + 1, sizeof(*use));
	struct place whole = {root, 0, 0};
	struct automaton_effort effort;
	uint32_t anchors = 0;
	int r;

	if (!use)
		return -ENOMEM;
	r = lower_rules(a, m, d, &tries, &anchors);
	if (r == -E2BIG)
		report_too_big(&whole, "a pattern automaton of more nodes than", NFA_NODES_MAX, d);
	if (r == 0)
		r = nfa_share(tries, &nfa);
	if (r < 0)
		return r;
	nfa_free(TAKE_PTR(tries));
	r = automaton_build(nfa, use, m->rule_count, &effort, &large);
	if (r == -E2BIG)
		report_explosion(m, &whole, use, &effort, d);
	if (r < 0)
		return r;
	nfa_free(TAKE_PTR(nfa));
	r = automaton_minimise(large, &small);
	if (r < 0)
		return r;
	automaton_free(TAKE_PTR(large));
	r = effect_of_combination(small, use, m->rule_count);
	if (r < 0)
		return r;
	warn_of_idle_rules(m, small, root, use, d);
	r = tables_build(small, m, anchors, &p->tables, &p->tables_size);
	if (r == -E2BIG)
		report_too_big(&whole, "more memory pages than", CORDON_MAX_PAGES, d);
	return r;
}

/* The extent of a compilation and of its checks. */
enum scope {
	SCOPE_RUN,   /* policies that can be launched */
	SCOPE_CHECK, /* also fragments */
	SCOPE_HOST,  /* also fragments, with warnings from this host's files */
};

static int compile_model(struct arena *a, const struct model *m, const struct source *root,
			 struct diagnostics *d, struct compiled_policy **ret_policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = calloc(1, sizeof(*p));
	int r = p ? make_tables(a, m, root, d, p) : -ENOMEM;

	if (r == 0)
		r = copy_model(m, root->path, p);
	if (r < 0)
		return r;
	memcpy(p->digest, ((struct cordon_policy_header *)p->tables)->digest, sizeof(p->digest));
	hex_encode(p->digest, sizeof(p->digest), p->digest_text);
	*ret_policy = TAKE_PTR(p);
	return 0;
}

/* *ret_model: the compiled model, owned by the arena. */
static int compile_source(struct arena *a, const struct source *root,
			  const struct policy_search *search, enum scope scope,
			  struct diagnostics *d, const struct model **ret_model,
			  struct compiled_policy **ret_policy)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	struct model *m = NULL;
	int r = load_model(a, root, search, d, &m);

	if (r < 0)
		return r;
	if (m->fragment && scope == SCOPE_RUN) {
		report_error(d, &m->fragment_place, "name a policy that includes it",
			     "this is a fragment, not a policy to run under");
		return -EINVAL;
	}
	r = compile_model(a, m, root, d, &p);
	if (r == 0 && scope == SCOPE_HOST)
		r = host_paths_warn(a, m, d);
	if (r < 0)
		return r;
	*ret_model = m;
	*ret_policy = TAKE_PTR(p);
	return 0;
}

/* Returns the result to the caller; running out of memory during reports is also a failure. */
static int finish(struct diagnostics *d, int result, struct compiled_policy **policy,
		  struct compiled_policy **ret_policy)
{
	if (diagnostics_failed(d))
		return -ENOMEM;
	if (result == 0)
		*ret_policy = TAKE_PTR(*policy);
	return result;
}

/* Takes ownership of the arena. */
static int keep_written(struct arena **arena, const struct model *model, const struct source *root,
			struct policy_written **ret_written)
{
	struct policy_written *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct policy_written){TAKE_PTR(*arena), model, root};
	*ret_written = w;
	return 0;
}

int policy_compile_text(const char *text, size_t size, const char *file,
			const struct policy_search *search, struct diagnostics *diagnostics,
			struct compiled_policy **ret_policy)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	struct source root = {.name = file, .path = file, .text = text, .size = size};
	struct place whole = {&root, 0, 0};
	const struct model *model;
	int r;

	if (!a)
		return -ENOMEM;
	if (size > SOURCE_SIZE_MAX) {
		report_error(diagnostics, &whole, "split it into fragments and include them",
			     "larger than 1 MiB");
		return finish(diagnostics, -E2BIG, &p, ret_policy);
	}
	r = compile_source(a, &root, search, SCOPE_RUN, diagnostics, &model, &p);
	return finish(diagnostics, r, &p, ret_policy);
}

/*
 * A hint for a name that is not found: the nearest policy name, or all names, and the search
 * directories.
 */
static const char *hint_of_names(const char *name, const struct policy_search *search,
				 struct arena *a)
{
	const char *const *names, *near, *hint;
	size_t count;

	if (policy_search_list(a, search, &names, &count) < 0)
		return NULL;
	near = suggest(name, names, count);
	hint = near ? arena_printf(a, "did you mean \"%s\"? ", near) : "";
	hint = hint ? arena_printf(a, "%sgive a path, or one of", hint) : NULL;
	for (size_t i = 0; i < count && hint; i++)
		hint = arena_printf(a, "%s%s %s", hint, i ? "," : "", names[i]);
	if (count == 0 && hint)
		hint = "give a path: there are no policies";
	for (size_t i = 0; search && search->directories && search->directories[i] && hint; i++)
		hint = arena_printf(a, "%s%s %s", hint, i ? "," : " in", search->directories[i]);
	return hint;
}

static int report_unreadable(const char *name, const struct policy_search *search, int error,
			     struct arena *a, struct diagnostics *d)
{
	struct source unread = {.name = name};
	struct place whole = {&unread, 0, 0};
	const char *hint = NULL;

	if (error == -ENOENT && !strchr(name, '/'))
		hint = hint_of_names(name, search, a);
	else if (error == -EISDIR)
		hint = "name a file in it";
	report_error(d, &whole, hint, "cannot read the policy: %s",
		     error == -EFBIG	? "larger than 1 MiB"
		     : error == -EINVAL ? "not a regular file"
					: strerror(-error));
	return error == -EFBIG ? -E2BIG : error;
}

static int compile_named(const char *name, const struct policy_search *search, enum scope scope,
			 struct diagnostics *d, struct policy_written **ret_written,
			 struct compiled_policy **ret_policy)
{
	_cleanup_(arena_freep) struct arena *a = arena_new();
	_cleanup_(compiled_policy_freep) struct compiled_policy *p = NULL;
	const struct model *model = NULL;
	struct source *root = NULL;
	const char *path;
	int r;

	if (!a)
		return -ENOMEM;
	r = source_find(a, name, search, &path);
	if (r == 0)
		r = source_read_input(a, path, path, search, &root);
	if (r < 0)
		return finish(d, report_unreadable(name, search, r, a, d), &p, ret_policy);
	r = compile_source(a, root, search, scope, d, &model, &p);
	if (r == 0 && ret_written && !diagnostics_failed(d))
		r = keep_written(&a, model, root, ret_written);
	return finish(d, r, &p, ret_policy);
}

int policy_compile(const char *name_or_path, const struct policy_search *search,
		   struct diagnostics *diagnostics, struct compiled_policy **ret_policy)
{
	return compile_named(name_or_path, search, SCOPE_RUN, diagnostics, NULL, ret_policy);
}

int policy_check(const char *name_or_path, const struct policy_search *search,
		 struct diagnostics *diagnostics, struct compiled_policy **ret_policy)
{
	return compile_named(name_or_path, search, SCOPE_CHECK, diagnostics, NULL, ret_policy);
}

int policy_check_host(const char *name_or_path, const struct policy_search *search,
		      struct diagnostics *diagnostics, struct compiled_policy **ret_policy)
{
	return compile_named(name_or_path, search, SCOPE_HOST, diagnostics, NULL, ret_policy);
}

/* ---- parts of a policy ---- */

int policy_check_written(const char *name_or_path, const struct policy_search *search,
			 struct diagnostics *diagnostics, struct policy_written **ret_written,
			 struct compiled_policy **ret_policy)
{
	return compile_named(name_or_path, search, SCOPE_CHECK, diagnostics, ret_written,
			     ret_policy);
}

void policy_written_free(struct policy_written *w)
{
	arena_free(w->arena);
	free(w);
}

int policy_written_without(const struct policy_written *w, const bool *left_out,
			   struct compiled_policy **ret_policy)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	_cleanup_(arena_freep) struct arena *a = arena_new();
	/*
	 * An empty rule replaces each omitted one, so that the remaining rules keep their numbers.
	 */
	struct rule nothing = {.kind = RULE_FILES, .place = {w->root, 0, 0}};
	struct model rest = *w->model;

	if (!a || !d)
		return -ENOMEM;
	rest.rules = arena_alloc(a, (rest.rule_count + 1) * sizeof(struct rule *));
	if (!rest.rules)
		return -ENOMEM;
	for (size_t i = 0; i < rest.rule_count; i++)
		rest.rules[i] = left_out[i] ? &nothing : w->model->rules[i];
	return compile_model(a, &rest, w->root, d, ret_policy);
}

int policy_written_rules(const struct policy_written *w, struct nfa **ret_nfa)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	uint32_t anchors;

	return d ? lower_rules(w->arena, w->model, d, ret_nfa, &anchors) : -ENOMEM;
}
