/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several automata run side by side over the same bytes: every tuple of states that some string
 * leads to, found breadth first, so that the first string found for a tuple is a shortest one.
 */
#ifndef CORDON_POLICY_PRODUCT_H
#define CORDON_POLICY_PRODUCT_H

#include "policy/automaton/automaton.h"

#define PRODUCT_WIDTH_MAX (5 + 4 * CORDON_MAX_ANCHORS)

/* The state of an axis that does not run (yet): no byte changes it. */
#define PRODUCT_IDLE 0xffffffffu

/* What a visit may return besides a negative errno, which ends the exploration. */
enum product_visit {
	PRODUCT_EXPAND = 0,
	PRODUCT_PRUNE = 1, /* what follows this tuple is of no interest */
};

struct product;

/* Called once per tuple, shortest strings first. It may add others with product_jump(). */
typedef int product_visitor(void *context, struct product *p, uint32_t node);

/*
 * Explores from the tuple `start`. What *ret_product points to is for the visitor and for
 * product_string(). -E2BIG: more than `limit` tuples; -ENOMEM; or what `visit` returned.
 */
int product_explore(const struct automaton *const *axes, const uint32_t *start, size_t width,
		    size_t limit, product_visitor *visit, void *context,
		    struct product **ret_product);

const uint32_t *product_states(const struct product *p, uint32_t node);

/*
 * Adds the tuple `states` as one that follows `node` without a byte; `mark` (below 256) is kept for
 * product_string().
 */
int product_jump(struct product *p, uint32_t node, const uint32_t *states, unsigned int mark);

/*
 * A shortest string that leads to `node`, with a NUL behind it. *ret_marks, if wanted: per mark
 * below `mark_count` where in the string the jump was, or SIZE_MAX. Caller frees the string.
 * -ENOMEM.
 */
int product_string(const struct product *p, uint32_t node, char **ret_string, size_t *ret_size,
		   size_t *ret_marks, size_t mark_count);

/* Bytes of the string that product_string() gives. */
uint32_t product_depth(const struct product *p, uint32_t node);

/* Tuples: numbers from 0, in the order in which they were found. */
uint32_t product_count(const struct product *p);

/* By how many strings a tuple is reached; PRODUCT_UNBOUNDED: by as many as there are. */
#define PRODUCT_UNBOUNDED UINT64_MAX

/*
 * Per tuple, how many strings reach it; and with how many bytes of the one that product_string()
 * gives unboundedly many of these begin, PRODUCT_NO_BOUND: not with any that is known. Caller frees
 * both. -ENOMEM.
 */
#define PRODUCT_NO_BOUND UINT32_MAX
int product_sizes(const struct product *p, uint64_t **ret_sizes, uint32_t **ret_bounds);

void product_free(struct product *p);
DEFINE_CLEANUP(struct product *, product_free, product_freep)

#endif
