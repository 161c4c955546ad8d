/* SPDX-License-Identifier: Apache-2.0 */
/* Which shipped fragments cover what was accessed. */
#include <string.h>

#include "insight/learn/learn_state.h"
#include "insight/recording/replay.h"

/* A fragment is worth its line if it covers so many accesses that no other does, */
#define WORTH_NARROW 3u
/* or so many if it lets everything in /usr/bin be run. */
#define WORTH_BROAD 24u

static int compile_fragment(struct learning *l, const char *name, struct diagnostics *d,
			    struct compiled_policy **ret)
{
	_cleanup_(freep) char *text = NULL;

	if (asprintf(&text, "version: 1\nname: fragment\ninclude: [%s]\n", name) < 0)
		return -ENOMEM;
	return policy_compile_text(text, strlen(text), "fragment.yaml", l->options->search, d, ret);
}

static int add_fragment(struct learning *l, const char *name, struct diagnostics *d,
			struct learn_fragment **ret)
{
	struct learn_fragment *f = arena_alloc(l->arena, sizeof(*f)), **end = &l->fragments;
	int r;

	if (!f)
		return -ENOMEM;
	f->name = name;
	r = compile_fragment(l, name, d, &f->policy);
	if (r < 0)
		return r;
	while (*end)
		end = &(*end)->next;
	*end = f;
	*ret = f;
	return 0;
}

void learn_fragments_release(struct learning *l)
{
	for (struct learn_fragment *f = l->fragments; f; f = f->next)
		compiled_policy_free(f->policy);
}

static int ask(const struct learning *l, const struct compiled_policy *p, size_t access,
	       struct replay_answer *ret)
{
	const struct recorded_access *a = &l->accesses[access];

	return replay_judge(p, &l->runs[a->run], a, ret);
}

/* Does a rule deny it? The default does not count. */
static bool is_denied(const struct replay_answer *answer)
{
	return answer->decided && !answer->allowed && answer->rule != CORDON_NO_RULE;
}

static int find_fates(struct learning *l, const struct compiled_policy *credentials)
{
	struct replay_answer answer;
	int r;

	for (size_t i = 0; i < l->access_count; i++) {
		r = ask(l, credentials, i, &answer);
		if (r < 0)
			return r;
		if (l->accesses[i].outcome == ACCESS_REFUSED)
			l->fates[i] = LEARN_REFUSED;
		else if (!answer.decided)
			l->fates[i] = LEARN_IMPOSSIBLE;
		else if (is_denied(&answer) && !l->options->include_credentials)
			l->fates[i] = LEARN_CREDENTIAL;
		l->missing[i] = l->accesses[i].rights;
	}
	return 0;
}

/* May anything in /usr/bin be run under it? */
static int is_broad(const struct compiled_policy *p, bool *ret)
{
	static const char name[] = "/usr/bin/\1";
	struct policy_path path = {.name = name, .size = strlen(name)};
	struct policy_answer answer;
	int r;

	for (size_t i = 0; i < CORDON_MAX_ANCHORS; i++)
		path.anchors[i] = POLICY_NO_ANCHOR;
	r = policy_judge_path(p->tables, p->tables_size, &path, CORDON_RIGHT(CORDON_RUN), &answer);
	if (r == 0)
		*ret = answer.missing == 0;
	return r;
}

/*
 * Only fragments that say what one piece of installed software needs: those that join others, or
 * that allow something in the directories of an execution, would grant more than what these runs
 * did.
 */
static bool is_candidate(const struct compiled_policy *p)
{
	for (size_t i = 0; i < p->rule_count; i++)
		if (strcmp(p->rules[i].file, p->rules[0].file) != 0 ||
		    (strncmp(p->rules[i].text, "allow", 5) == 0 && strstr(p->rules[i].text, "${")))
			return false;
	return true;
}

/* Is it about programs that run? */
static bool may_run_something(const struct compiled_policy *p)
{
	const struct cordon_final *final;
	struct cordon_policy_header header;
	uint32_t state;

	memcpy(&header, p->tables, sizeof(header));
	state = header.start[CORDON_START_PATH] & CORDON_STATE_MASK;
	if (state >= header.finals_count)
		return true;
	final = (const void *)(p->tables + header.finals_offset + (size_t)state * sizeof(*final));
	return final->may_allow & CORDON_RIGHT(CORDON_RUN);
}

/*
 * How many accesses it would settle besides; 0 also if it denies one that is wanted, or if it is
 * about programs of which none ran: that somebody looked into their directories is no reason to let
 * them run.
 */
static int count_covered(struct learning *l, const struct learn_fragment *f, size_t *ret_count)
{
	struct replay_answer answer;
	bool ran = !may_run_something(f->policy);
	size_t count = 0;
	int r;

	*ret_count = 0;
	for (size_t i = 0; i < l->access_count; i++) {
		if (l->fates[i] != LEARN_WANTED || l->accesses[i].kind >= ACCESS_CAPABILITY)
			continue;
		r = ask(l, f->policy, i, &answer);
		if (r < 0)
			return r;
		if (is_denied(&answer))
			return 0;
		count += (l->missing[i] & ~answer.missing) != 0;
		ran |= l->accesses[i].rights & ~answer.missing & CORDON_RIGHT(CORDON_RUN);
	}
	*ret_count = ran ? count : 0;
	return 0;
}

static int choose(struct learning *l, struct learn_fragment *f)
{
	struct replay_answer answer;
	int r;

	f->chosen = true;
	for (size_t i = 0; i < l->access_count; i++) {
		struct evidence e = learn_evidence(&l->accesses[i]);

		if (l->fates[i] != LEARN_WANTED || l->accesses[i].kind >= ACCESS_CAPABILITY)
			continue;
		r = ask(l, f->policy, i, &answer);
		if (r < 0)
			return r;
		if (!(l->missing[i] & ~answer.missing))
			continue;
		l->missing[i] &= answer.missing;
		evidence_add(&f->evidence, &e);
		f->covers++;
	}
	return 0;
}

/* The one that covers most of what remains (Chvátal 1979: the greedy cover). */
static int choose_next(struct learning *l, bool *ret_more)
{
	struct learn_fragment *best = NULL;
	size_t most = 0, count;
	bool broad = false;
	int r;

	*ret_more = false;
	for (struct learn_fragment *f = l->fragments; f; f = f->next) {
		if (f->chosen || !is_candidate(f->policy))
			continue;
		r = count_covered(l, f, &count);
		if (r == 0)
			r = is_broad(f->policy, &broad);
		if (r < 0)
			return r;
		if (count <= most || count < (broad ? WORTH_BROAD : WORTH_NARROW))
			continue;
		most = count;
		best = f;
	}
	*ret_more = best != NULL;
	return best ? choose(l, best) : 0;
}

/* One that is wrong, or too large by itself, is no candidate. */
static int add_candidates(struct learning *l)
{
	_cleanup_(diagnostics_freep) struct diagnostics *d = diagnostics_new();
	struct learn_fragment *f;
	int r = d ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && l->options->fragments[i]; i++) {
		if (strcmp(l->options->fragments[i], LEARN_CREDENTIALS) == 0)
			continue;
		r = add_fragment(l, l->options->fragments[i], d, &f);
		if (r < 0 && r != -ENOMEM)
			r = 0;
	}
	return r;
}

int learn_fragments(struct learning *l)
{
	struct learn_fragment *credentials = NULL;
	bool more = true;
	int r;

	r = add_fragment(l, LEARN_CREDENTIALS, l->diagnostics, &credentials);
	if (r == 0)
		r = find_fates(l, credentials->policy);
	if (r == 0)
		r = add_candidates(l);
	while (r == 0 && more)
		r = choose_next(l, &more);
	if (credentials)
		credentials->chosen = !l->options->include_credentials;
	return r;
}
