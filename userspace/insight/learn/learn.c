/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a policy from recorded executions, with the evidence next to each rule. */
#include "insight/learn/learn.h"

#include <string.h>

#include "audit/record/names.h"
#include "insight/learn/learn_state.h"
#include "insight/recording/replay.h"

/* The file name in messages about the result. */
#define RESULT_NAME "learned.yaml"

void learned_release(struct learned *learned)
{
	free(learned->text);
	compiled_policy_free(learned->policy);
	free(learned->failures);
	free(learned->cautions);
	*learned = (struct learned){0};
}

static void learning_release(struct learning *l)
{
	learn_fragments_release(l);
	json_decref(l->created);
	json_decref(l->moves);
	json_decref(l->links);
	if (l->arena)
		arena_free(l->arena);
}

static int begin(struct learning *l, const struct recording *recording,
		 const struct learn_options *options, struct diagnostics *diagnostics)
{
	l->options = options;
	l->diagnostics = diagnostics;
	l->runs = recording_runs(recording, &l->run_count);
	l->accesses = recording_accesses(recording, &l->access_count);
	if (!l->access_count)
		return -ENODATA;
	l->arena = arena_new();
	if (!l->arena)
		return -ENOMEM;
	l->fates = arena_alloc(l->arena, l->access_count * sizeof(*l->fates));
	l->missing = arena_alloc(l->arena, l->access_count * sizeof(*l->missing));
	l->moved = arena_alloc(l->arena, l->run_count * sizeof(*l->moved));
	l->created = json_object();
	l->moves = json_object();
	l->links = json_object();
	return l->fates && l->missing && l->moved && l->created && l->moves && l->links ? 0
											: -ENOMEM;
}

/* --- accesses that the result allows ---------------------------------------------------------- */

/* Accesses that the policy so far does not allow, but a further round may. */
struct unsettled {
	bool moves; /* moves that would widen rights */
	bool links; /* symbolic links that were not known to be denied */
};

/* Rights on the names that a run moved objects from or to. */
struct move_rights {
	bool any;
	uint32_t every_source; /* rights that every old name grants */
	uint32_t some_target;  /* rights that at least one new name grants */
};

static void note_move(const struct learning *l, struct move_rights *moves,
		      const struct recorded_access *a, uint32_t granted)
{
	struct move_rights *m = &moves[a->run];

	if (!learn_is_moved(l, a))
		return;
	if (!m->any)
		m->every_source = UINT32_MAX;
	m->any = true;
	if (a->rights & CORDON_RIGHT(CORDON_DELETE))
		m->every_source &= granted;
	if (a->rights & CORDON_RIGHT(CORDON_CREATE))
		m->some_target |= granted;
}

static void put_failure(FILE *out, const struct recorded_access *a)
{
	fprintf(out, "record %llu: %s %s\n", (unsigned long long)a->record,
		name_of_operation(a->operation), a->text);
}

/*
 * A pattern or fragment may grant more on one target of a run's moves than on the others. Then the
 * others must get the same rights.
 */
static bool moves_widen(const struct learning *l, const struct move_rights *moves)
{
	bool widens = false;

	for (size_t i = 0; i < l->run_count; i++) {
		if (!moves[i].any || !(moves[i].some_target & ~moves[i].every_source))
			continue;
		l->moved[i] |= moves[i].some_target & CORDON_NAMED_RIGHTS;
		widens = true;
	}
	return widens;
}

static int check(const struct learning *l, struct learned *learned, FILE *failures,
		 struct unsettled *ret_unsettled)
{
	struct move_rights *moves = arena_alloc(l->arena, (l->run_count + 1) * sizeof(*moves));
	struct unsettled unsettled = {0};
	struct replay_answer answer;
	int r;

	if (!moves)
		return -ENOMEM;
	learned->allowed = 0;
	for (size_t i = 0; i < l->access_count; i++) {
		const struct recorded_access *a = &l->accesses[i];

		if (l->fates[i] != LEARN_WANTED)
			continue;
		r = replay_judge(learned->policy, &l->runs[a->run], a, &answer);
		if (r < 0)
			return r;
		learned->allowed += answer.allowed;
		if (!answer.allowed)
			put_failure(failures, a);
		if (!answer.allowed && a->operation == CORDON_OP_SYMLINK) {
			r = learn_mark_link(l, a);
			if (r < 0)
				return r;
			unsettled.links |= r > 0;
		}
		note_move(l, moves, a, answer.granted);
	}
	unsettled.moves = moves_widen(l, moves);
	*ret_unsettled = unsettled;
	return 0;
}

/* --- further notes ---------------------------------------------------------------------------- */

static void put_cautions(const struct learning *l, bool widens, FILE *out)
{
	for (size_t i = 0; i < l->run_count; i++) {
		const struct recorded_run *run = &l->runs[i];

		if (run->lost)
			fprintf(out,
				"%s: %llu of its events are missing from the log; run it again\n",
				run->id, (unsigned long long)run->lost);
		if (run->started && !run->observed)
			fprintf(out,
				"%s was not observed but confined: allowed accesses may be "
				"missing from the log\n",
				run->id);
		if (run->started && !run->ended)
			fprintf(out, "%s has not ended\n", run->id);
	}
	for (const struct learn_setting *setting = l->settings; setting; setting = setting->next)
		if (setting->kind == ACCESS_CAPABILITY)
			fprintf(out, "%s was used and is granted\n",
				name_of_capability(setting->number));
	if (widens)
		fputs("files were moved to names that grant more than the old ones: such moves fail "
		      "with EXDEV\n",
		      out);
}

static void count(const struct learning *l, struct learned *learned)
{
	learned->accesses = l->access_count;
	for (size_t i = 0; i < l->access_count; i++) {
		learned->credentials += l->fates[i] == LEARN_CREDENTIAL;
		learned->impossible += l->fates[i] == LEARN_IMPOSSIBLE;
	}
	for (const struct learn_setting *s = l->settings; s; s = s->next)
		learned->capabilities += s->kind == ACCESS_CAPABILITY;
}

/* Compiles the text and checks that the result allows every access. */
static int prove(const struct learning *l, struct learned *learned, struct diagnostics *d,
		 struct unsettled *ret_unsettled)
{
	FILE *out;
	size_t size;
	int r;

	if (!learned->text)
		return -ENOMEM;
	compiled_policy_free(learned->policy);
	learned->policy = NULL;
	r = policy_compile_text(learned->text, strlen(learned->text), RESULT_NAME,
				l->options->search, d, &learned->policy);
	if (r < 0)
		return r;
	free(learned->failures);
	learned->failures = NULL;
	out = open_memstream(&learned->failures, &size);
	if (!out)
		return -ENOMEM;
	r = check(l, learned, out, ret_unsettled);
	return fclose(out) == 0 ? r : -ENOMEM;
}

static int describe(const struct learning *l, struct learned *learned, bool widens)
{
	size_t size;
	FILE *out;

	free(learned->cautions);
	learned->cautions = NULL;
	out = open_memstream(&learned->cautions, &size);
	if (!out)
		return -ENOMEM;
	put_cautions(l, widens, out);
	if (fclose(out) != 0)
		return -ENOMEM;
	free(learned->text);
	learned->text = learn_write(l, learned);
	return learned->text ? 0 : -ENOMEM;
}

/* --- rules without effect --------------------------------------------------------------------- */

static bool is_idle(const struct diagnostics *d, unsigned int line)
{
	for (size_t i = 0; i < diagnostics_count(d); i++)
		if (diagnostics_at(d, i)->severity == DIAGNOSTIC_WARNING &&
		    diagnostics_at(d, i)->line == line &&
		    strcmp(diagnostics_at(d, i)->file, RESULT_NAME) == 0)
			return true;
	return false;
}

/* Removes the rules with warnings; each starts with two spaces and a dash. */
static void drop_idle_rules(char *text, const struct diagnostics *d)
{
	char *to = text;
	bool dropping = false;
	unsigned int line = 1;

	for (const char *from = text; *from; line++) {
		size_t n = strcspn(from, "\n");

		n += from[n] == '\n';
		if (strncmp(from, "  - ", 4) == 0 || from[0] != ' ')
			dropping = is_idle(d, line);
		if (!dropping) {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

#define MAX_ROUNDS 4

/* Writes the policy in rounds, until it allows the recorded moves and links. */
static int settle(struct learning *l, struct learned *learned, struct diagnostics *d,
		  struct unsettled *ret_unsettled)
{
	struct unsettled unsettled = {.moves = true};
	int r = 0;

	for (unsigned int round = 0;
	     r == 0 && (unsettled.moves || unsettled.links) && round < MAX_ROUNDS; round++) {
		r = learn_paths(l);
		if (r == 0)
			r = describe(l, learned, false);
		if (r == 0)
			r = prove(l, learned, d, &unsettled);
	}
	*ret_unsettled = unsettled;
	return r;
}

static int finish(struct learning *l, struct learned *learned)
{
	_cleanup_(diagnostics_freep) struct diagnostics *drafts = diagnostics_new();
	_cleanup_(diagnostics_freep) struct diagnostics *idle = diagnostics_new();
	struct unsettled unsettled = {0};
	int r;

	if (!drafts || !idle)
		return -ENOMEM;
	count(l, learned);
	r = settle(l, learned, drafts, &unsettled);
	/* The head contains counts that are only known after all checks. */
	if (r == 0)
		r = describe(l, learned, unsettled.moves);
	if (r == 0)
		r = prove(l, learned, idle, &unsettled);
	if (r == 0)
		drop_idle_rules(learned->text, idle);
	return r == 0 || r == -EINVAL ? prove(l, learned, l->diagnostics, &unsettled) : r;
}

int learn_policy(const struct recording *recording, const struct learn_options *options,
		 struct diagnostics *diagnostics, struct learned *ret_learned)
{
	_cleanup_(learning_release) struct learning l = {0};
	_cleanup_(learned_release) struct learned learned = {0};
	int r;

	(void)((r = begin(&l, recording, options, diagnostics)) < 0 ||
	       (r = learn_fragments(&l)) < 0 || (r = learn_network(&l)) < 0 ||
	       (r = finish(&l, &learned)) < 0);
	if (r < 0)
		return r;
	*ret_learned = learned;
	learned = (struct learned){0};
	return 0;
}
