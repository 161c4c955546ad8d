/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds moves of a recording that another policy would deny: the new name must not grant more than
 * the old one.
 */
#include "insight/recording/moves.h"

#include <stdlib.h>

/* Per right, 1 + the index of the first old name in the run that does not grant it; 0: all do. */
struct old_names {
	size_t lacking[CORDON_RIGHT_COUNT];
};

static bool goes_ahead(const struct recorded_access *a, const struct replay_answer *answer)
{
	return a->kind == ACCESS_PATH && a->outcome != ACCESS_REFUSED && answer->allowed;
}

static void note_old_name(struct old_names *old, size_t access, uint32_t granted)
{
	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++)
		if (!(granted & CORDON_RIGHT(right)) && !old->lacking[right])
			old->lacking[right] = access + 1;
}

static void judge_new_name(struct moves *m, const struct old_names *old, size_t access,
			   const struct replay_answer *answers)
{
	uint32_t granted = answers[access].granted & CORDON_NAMED_RIGHTS;

	for (unsigned int right = 0; right < CORDON_RIGHT_COUNT; right++) {
		size_t from = old->lacking[right];

		if (!(granted & CORDON_RIGHT(right)) || !from)
			continue;
		m->widening[m->widening_count++] = (struct widening_move){
			access, from - 1, granted & ~answers[from - 1].granted};
		return;
	}
}

int moves_find(size_t run_count, const struct recorded_access *accesses, size_t count,
	       const struct replay_answer *answers, struct moves *ret_moves)
{
	_cleanup_(freep) struct old_names *old = calloc(run_count + 1, sizeof(*old));
	struct moves m = {.widening = calloc(count + 1, sizeof(*m.widening))};

	if (!old || !m.widening) {
		free(m.widening);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		if (accesses[i].operation == CORDON_OP_RENAME &&
		    goes_ahead(&accesses[i], &answers[i]) &&
		    accesses[i].rights & CORDON_RIGHT(CORDON_DELETE))
			note_old_name(&old[accesses[i].run], i, answers[i].granted);
	for (size_t i = 0; i < count; i++) {
		const struct recorded_access *a = &accesses[i];

		if (!(a->rights & CORDON_RIGHT(CORDON_CREATE)) || !goes_ahead(a, &answers[i]))
			continue;
		m.linked += a->operation == CORDON_OP_LINK;
		m.renamed += a->operation == CORDON_OP_RENAME;
		if (a->operation == CORDON_OP_RENAME)
			judge_new_name(&m, &old[a->run], i, answers);
	}
	*ret_moves = m;
	return 0;
}

void moves_release(struct moves *moves)
{
	free(moves->widening);
}
