/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs several automata in lockstep over the same bytes. Finds every tuple of states that a string
 * leads to, breadth first, so the first string found for a tuple is a shortest one.
 */
#ifndef CORDON_POLICY_PRODUCT_H
#define CORDON_POLICY_PRODUCT_H

#include "policy/automaton/automaton.h"

#define PRODUCT_WIDTH_MAX (5 + 4 * CORDON_MAX_ANCHORS)

/* The state of an axis that is not running (yet): no byte changes it. */
#define PRODUCT_IDLE 0xffffffffu

/* Results of a visit. A negative errno ends the exploration. */
enum product_visit {
	PRODUCT_EXPAND = 0,
	PRODUCT_PRUNE = 1, /* do not explore the successors of this tuple */
};

struct product;

/* Called once per tuple, shortest strings first. It may add tuples with product_jump(). */
typedef int product_visitor(void *context, struct product *p, uint32_t node);

/*
 * Explores from the tuple `start`. *ret_product is for the visitor and for product_string().
 * -E2BIG: more than `limit` tuples; -ENOMEM; or the negative result of `visit`.
 */
int product_explore(const struct automaton *const *axes, const uint32_t *start, size_t width,
		    size_t limit, product_visitor *visit, void *context,
		    struct product **ret_product);

const uint32_t *product_states(const struct product *p, uint32_t node);

/*
 * Adds the tuple `states` as a successor of `node` that needs no byte. `mark` (below 256) is kept
 * for product_string().
 */
int product_jump(struct product *p, uint32_t node, const uint32_t *states, unsigned int mark);

/*
 * Makes a shortest string that leads to `node`, followed by a NUL. *ret_marks, unless NULL: per
 * mark below `mark_count` the offset of its jump in the string, or SIZE_MAX. Caller frees the
 * string. -ENOMEM.
 */
int product_string(const struct product *p, uint32_t node, char **ret_string, size_t *ret_size,
		   size_t *ret_marks, size_t mark_count);

/* Size of the result of product_string(). */
uint32_t product_depth(const struct product *p, uint32_t node);

/* The number of tuples. They are numbered from 0, in the order of discovery. */
uint32_t product_count(const struct product *p);

/* The number of strings that reach a tuple; PRODUCT_UNBOUNDED: unlimited. */
#define PRODUCT_UNBOUNDED UINT64_MAX

/*
 * *ret_sizes: per tuple, the number of strings that reach it. *ret_bounds: the length of a prefix
 * of the product_string() that unlimited strings share, PRODUCT_NO_BOUND: none is known. Caller
 * frees both. -ENOMEM.
 */
#define PRODUCT_NO_BOUND UINT32_MAX
int product_sizes(const struct product *p, uint64_t **ret_sizes, uint32_t **ret_bounds);

void product_free(struct product *p);
DEFINE_CLEANUP(struct product *, product_free, product_freep)

#endif
