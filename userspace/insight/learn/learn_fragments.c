/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the shipped fragments that cover the recorded accesses. */
#include <string.h>

#include "insight/learn/learn_state.h"
#include "insight/recording/replay.h"

/* A fragment is included if it covers at least this many accesses that no other fragment covers. */
#define WORTH_NARROW 3u
/* The same for a fragment that allows running everything in /usr/bin. */
#define WORTH_BROAD 24u

static int compile_fragment(struct learning *l, const char *name, struct diagnostics *d,
			    struct compiled_policy **ret)
{
	_cleanup_(freep) char *text = NULL;

	if (asprintf(&text, "version: 1\nname: fragment\ninclude: [%s]\n", name) < 0)
		return -ENOMEM;
	return policy_compile_text(text, strlen(text), "fragment.yaml", l->options->search, d, ret);
}

/* Is the fragment part of the policy to amend already? */
static bool is_included(const struct learning *l, const char *name)
{
	const char *slash = strrchr(name, '/');
	_cleanup_(freep) char *end = NULL;

	if (!l->amended || asprintf(&end, "/%s.yaml", slash ? slash + 1 : name) < 0)
		return false;
	for (size_t i = 0; i < l->amended->rule_count; i++) {
		const char *file = l->amended->rules[i].file;
		size_t size = strlen(file), tail = strlen(end);

		if ((size >= tail && strcmp(file + size - tail, end) == 0) ||
		    strcmp(file, end + 1) == 0)
			return true;
	}
	return false;
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

/* True if a rule denies it. A denial by default does not count. */
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

/* True if every program in /usr/bin may be run under it. */
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
 * A candidate only covers the needs of one piece of installed software. Fragments that include
 * others, or that allow something in an execution's directories, would grant more than these runs
 * need.
 */
static bool is_candidate(const struct compiled_policy *p)
{
	for (size_t i = 0; i < p->rule_count; i++)
		if (strcmp(p->rules[i].file, p->rules[0].file) != 0 ||
		    (strncmp(p->rules[i].text, "allow", 5) == 0 && strstr(p->rules[i].text, "${")))
			return false;
	return true;
}

/* A fragment that amends a policy may include fragments that only deny. */
static bool may_amend(const struct compiled_policy *p)
{
	const char *file = NULL;

	for (size_t i = 0; i < p->rule_count; i++) {
		if (strncmp(p->rules[i].text, "allow", 5) != 0)
			continue;
		if ((file && strcmp(p->rules[i].file, file) != 0) || strstr(p->rules[i].text, "${"))
			return false;
		file = p->rules[i].file;
	}
	return file != NULL;
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
 * Did the executions run a program of the fragment? True, too, if the recording has no program at
 * all, because the daemon holds denials only.
 */
static int ran_something(const struct learning *l, const struct compiled_policy *p, bool *ret_ran)
{
	bool any = false, ran = false;

	for (size_t i = 0; i < l->access_count && !ran; i++) {
		const struct recorded_access *a = &l->accesses[i];
		struct replay_answer answer;
		int r;

		if (a->kind != ACCESS_PATH || !(a->rights & CORDON_RIGHT(CORDON_RUN)))
			continue;
		any = true;
		r = ask(l, p, i, &answer);
		if (r < 0)
			return r;
		ran = !(answer.missing & CORDON_RIGHT(CORDON_RUN));
	}
	*ret_ran = ran || !any;
	return 0;
}

/*
 * The missing rights that the fragment grants. For a denial all or none: the rights added to those
 * denied were not checked.
 */
static uint32_t settles(const struct learning *l, size_t i, const struct replay_answer *answer)
{
	/* Which addresses a job needs does not follow from the sockets of a fragment. */
	if (l->amended && l->accesses[i].kind != ACCESS_PATH &&
	    l->accesses[i].kind != ACCESS_SPECIAL)
		return 0;
	if (l->amended)
		return answer->missing ? 0 : l->missing[i];
	return l->missing[i] & ~answer->missing;
}

/*
 * Counts the further accesses that the fragment would settle. The count is 0 if it denies a wanted
 * access, and if it allows programs but none of them ran: a task that only read their directories
 * needs no right to run them.
 */
static int count_covered(struct learning *l, const struct learn_fragment *f, size_t *ret_count)
{
	struct replay_answer answer;
	bool ran = !may_run_something(f->policy);
	size_t count = 0;
	int r = 0;

	*ret_count = 0;
	if (l->amended && !ran)
		r = ran_something(l, f->policy, &ran);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->access_count; i++) {
		if (l->fates[i] != LEARN_WANTED || l->accesses[i].kind >= ACCESS_CAPABILITY)
			continue;
		r = ask(l, f->policy, i, &answer);
		if (r < 0)
			return r;
		if (is_denied(&answer))
			return 0;
		count += settles(l, i, &answer) != 0;
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
		if (!settles(l, i, &answer))
			continue;
		l->missing[i] &= ~settles(l, i, &answer);
		evidence_add(&f->evidence, &e);
		f->covers++;
	}
	return 0;
}

/*
 * Chooses the fragment that covers most of the remaining accesses (Chvátal 1979: greedy cover).
 */
static int choose_next(struct learning *l, bool *ret_more)
{
	struct learn_fragment *best = NULL;
	size_t narrow = l->amended ? 1 : WORTH_NARROW, most = 0, count;
	bool broad = false;
	int r;

	*ret_more = false;
	for (struct learn_fragment *f = l->fragments; f; f = f->next) {
		if (f->chosen || is_included(l, f->name) ||
		    !(l->amended ? may_amend(f->policy) : is_candidate(f->policy)))
			continue;
		r = count_covered(l, f, &count);
		if (r == 0)
			r = is_broad(f->policy, &broad);
		if (r < 0)
			return r;
		if (count < (broad ? WORTH_BROAD : narrow) || count < most ||
		    (count == most &&
		     (!best || !l->amended || f->policy->rule_count >= best->policy->rule_count)))
			continue;
		most = count;
		best = f;
	}
	*ret_more = best != NULL;
	return best ? choose(l, best) : 0;
}

/* A fragment with errors, or one that is too large, is not a candidate. */
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
	/* Without the fragment a proposal knows no credentials, and may still be made. */
	if (l->amended && r < 0 && r != -ENOMEM)
		r = 0;
	if (r == 0)
		r = l->amended ? learn_denials(l, credentials ? credentials->policy : NULL)
			       : find_fates(l, credentials->policy);
	if (r == 0)
		r = add_candidates(l);
	while (r == 0 && more)
		r = choose_next(l, &more);
	if (credentials)
		credentials->chosen = !l->amended && !l->options->include_credentials;
	return r;
}
