/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rules that widen a policy, sorts them, and describes each of them. */
#include "policy/ask/wider_rules.h"

#include <inttypes.h>
#include <string.h>

#include "policy/source/diagnostic.h"

static unsigned int depth_of(const struct policy_widening *w)
{
	unsigned int depth = 0;

	for (const char *at = w->below ? w->below : w->witness.object; *at; at++)
		depth += *at == '/';
	return depth;
}

static int compare_widenings(const void *left, const void *right)
{
	const struct widening *a = left, *b = right;

	if (a->alarm.kind != b->alarm.kind)
		return a->alarm.kind < b->alarm.kind ? -1 : 1;
	if (a->by.unbounded != b->by.unbounded)
		return a->by.unbounded ? -1 : 1;
	if (a->by.unbounded && depth_of(&a->by) != depth_of(&b->by))
		return depth_of(&a->by) < depth_of(&b->by) ? -1 : 1;
	if (!a->by.unbounded && a->by.count != b->by.count)
		return a->by.count > b->by.count ? -1 : 1;
	return (a->by.rule > b->by.rule) - (a->by.rule < b->by.rule);
}

static int compile_nothing(struct compiled_policy **ret_policy)
{
	static const char text[] = "version: 1\n";
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();

	return d ? policy_compile_text(text, sizeof(text) - 1, "nothing", NULL, d, ret_policy)
		 : -ENOMEM;
}

/* Takes ownership of the contents of `found`. */
static int append(struct widenings *all, struct alarms *alarms, struct policy_widening *found,
		  size_t count)
{
	struct widening *larger = reallocarray(all->list, all->count + count, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	all->list = larger;
	for (size_t i = 0; i < count; i++) {
		struct widening *w = &all->list[all->count++];
		int r;

		*w = (struct widening){.by = found[i]};
		found[i] = (struct policy_widening){};
		r = alarms_find(alarms, &w->by, &w->alarm);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Much faster than finding out which rules widen. 1: `b` is wider. */
static int is_wider(const struct compiled_policy *a, const struct compiled_policy *b,
		    size_t tuples_max)
{
	struct policy_difference differences[POLICY_DIFFERENCES];
	bool wider = false;
	int r = policy_diff_within(a, b, tuples_max, differences);

	if (r < 0)
		return r;
	for (size_t i = 0; i < POLICY_DIFFERENCES; i++)
		wider |= differences[i].change & SETTING_WIDER;
	policy_diff_release(differences);
	return wider;
}

/* Finds the rules that decide in `rest`. 1: there is at least one. */
static int find_round(const struct compiled_policy *a, const struct compiled_policy *rest,
		      size_t tuples_max, struct alarms *alarms, struct widenings *all)
{
	struct policy_widening *found = NULL;
	size_t count = 0;
	int r = policy_widenings(a, rest, tuples_max, &found, &count);

	if (r == 0 && count > 0)
		r = append(all, alarms, found, count);
	policy_widenings_free(found, count);
	return r < 0 ? r : count > 0;
}

/* The state of one search. */
struct search {
	const struct compiled_policy *a, *b;
	const struct policy_written *written;
	size_t tuples_max;
	struct alarms *alarms;
	bool *left_out; /* per rule of b: removed for the next round */
	struct widenings *all;
	size_t noted; /* the first entries of `all`, which are marked in left_out */
};

/*
 * `looked_at`: an earlier round covered these rules and did not report them, so the reported rules
 * allow the same.
 */
static void leave_out_found(struct search *s, bool looked_at)
{
	for (; s->noted < s->all->count; s->noted++) {
		struct widening *w = &s->all->list[s->noted];

		s->left_out[w->by.rule] = true;
		w->behind = looked_at;
	}
}

/* Searches without all rules that are already found. */
static int find_next_round(struct search *s, bool first)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *rest = NULL;
	int r = first ? 0 : policy_written_without(s->written, s->left_out, &rest);

	/*
	 * The full policy nearly always contains wider rules, but the remaining rules seldom do:
	 * check cheaply first.
	 */
	if (r == 0)
		r = first || is_wider(s->a, rest, s->tuples_max);
	if (r > 0)
		r = find_round(s->a, first ? s->b : rest, s->tuples_max, s->alarms, s->all);
	leave_out_found(s, !first);
	s->all->complete = r == 0;
	return r;
}

static int find_all(const struct compiled_policy *a, const struct compiled_policy *b,
		    const struct policy_written *written, size_t tuples_max, struct widenings *all)
{
	_cleanup_(freep) bool *left_out = calloc(b->rule_count + 1, sizeof(*left_out));
	_cleanup_(alarms_freep) struct alarms *alarms = NULL;
	struct search s = {a, b, written, tuples_max, NULL, left_out, all, 0};
	int r = left_out ? alarms_new(a, b, written, &alarms) : -ENOMEM;

	if (r < 0)
		return r;
	s.alarms = alarms;
	r = find_next_round(&s, true);
	for (size_t round = 1; r > 0 && written && round < WIDENINGS_ROUNDS_MAX; round++)
		r = find_next_round(&s, false);
	/* If a later round exceeds the limit, the results of earlier rounds are kept. */
	return r >= 0 || (r == -E2BIG && all->count > 0) ? 0 : r;
}

int widenings_find(const struct compiled_policy *a, const struct compiled_policy *b,
		   const struct policy_written *written, size_t tuples_max,
		   struct widenings *ret_widenings)
{
	_cleanup_(compiled_policy_freep) struct compiled_policy *nothing = NULL;
	struct widenings all = {};
	int r = a ? 0 : compile_nothing(&nothing);

	if (r == 0)
		r = find_all(a ? a : nothing, b, written, tuples_max, &all);
	if (r < 0) {
		widenings_release(&all);
		return r;
	}
	if (all.count > 0)
		qsort(all.list, all.count, sizeof(*all.list), compare_widenings);
	*ret_widenings = all;
	return 0;
}

void widenings_release(struct widenings *widenings)
{
	for (size_t i = 0; i < widenings->count; i++) {
		policy_widening_release(&widenings->list[i].by);
		alarm_release(&widenings->list[i].alarm);
	}
	free(widenings->list);
	*widenings = (struct widenings){};
}

char *widening_phrase(const struct widening *w)
{
	const struct policy_widening *by = &w->by;
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (w->alarm.text)
		fprintf(out, "this lets it %s: ", w->alarm.text);
	fputs(by->section, out);
	for (size_t i = 0; i < by->right_count; i++)
		fprintf(out, "%s %s", i > 0 ? "," : "", by->rights[i]);
	fprintf(out, " %s", by->witness.object);
	if (*by->witness.bindings)
		fprintf(out, " (%s)", by->witness.bindings);
	if (by->unbounded && by->below)
		/*
		 * If a rule has several patterns, the largest directory may belong to another
		 * pattern than the example.
		 */
		fprintf(out, "%s without end below %s",
			strncmp(by->witness.object, by->below, strlen(by->below)) == 0
				? " and others"
				: ", and names",
			by->below);
	else if (by->unbounded)
		fputs(" and others without end", out);
	else if (by->count >= 1000000)
		fputs(" and more than a million others", out);
	else if (by->count > 1)
		fprintf(out, " and %" PRIu64 " more", by->count - 1);
	if (w->behind)
		fputs(", as other rules do", out);
	return fclose(out) == 0 ? TAKE_PTR(text) : NULL;
}

char *widening_line(const struct widening *w, const struct compiled_policy *b)
{
	const struct policy_rule *rule = &b->rules[w->by.rule];
	_cleanup_(freep) char *phrase = widening_phrase(w);
	char *line;

	if (!phrase || asprintf(&line, "%s, allowed by %s:%u: %s", phrase, rule->file, rule->line,
				rule->text) < 0)
		return NULL;
	return line;
}
