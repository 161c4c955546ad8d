/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of a recording under another policy: a new name must grant nothing that the old one does
 * not. The log has both names of a rename, not which of them belong together, so that this finds
 * what may be refused and never misses what would be, but for what lies below directories, and for
 * hard links, whose old names are not on record.
 */
#ifndef CORDON_INSIGHT_MOVES_H
#define CORDON_INSIGHT_MOVES_H

#include "insight/recording/recording.h"
#include "insight/recording/replay.h"

/* To this name, if it was from that one. */
struct widening_move {
	size_t to, from; /* accesses */
	uint32_t rights; /* that the new name grants and the old one does not */
};

struct moves {
	struct widening_move *widening; /* one per new name at most */
	size_t widening_count;
	size_t renamed, linked; /* new names that the policy allows */
};

/*
 * `answers`: the policy's, one per access. -ENOMEM; otherwise release with moves_release().
 */
int moves_find(size_t run_count, const struct recorded_access *accesses, size_t count,
	       const struct replay_answer *answers, struct moves *ret_moves);
void moves_release(struct moves *moves);

#endif
