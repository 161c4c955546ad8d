/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates the moves of a recording under another policy: the new name must not grant more than
 * the old one. The log has both names of a rename, but does not pair them. The result may therefore
 * contain moves that would be permitted. It misses none that would be denied, except contents of
 * directories, and hard links without a logged old name.
 */
#ifndef CORDON_INSIGHT_MOVES_H
#define CORDON_INSIGHT_MOVES_H

#include "insight/recording/recording.h"
#include "insight/recording/replay.h"

/* A move that would be denied if it was from `from`. */
struct widening_move {
	size_t to, from; /* indexes of accesses */
	uint32_t rights; /* granted by the new name but not by the old one */
};

struct moves {
	struct widening_move *widening; /* at most one per new name */
	size_t widening_count;
	size_t renamed, linked; /* new names that the policy permits */
};

/*
 * Finds both kinds of moves, from the policy's result for each access. Returns 0 or -ENOMEM.
 * Release *ret_moves with moves_release().
 */
int moves_find(size_t run_count, const struct recorded_access *accesses, size_t count,
	       const struct replay_answer *answers, struct moves *ret_moves);
void moves_release(struct moves *moves);

#endif
