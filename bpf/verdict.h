/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Verdict logic: how the outcomes of several automaton runs combine, and when a rename or link
 * may go ahead. Plain C for both sides, see matcher.h.
 *
 * A name may lie below several anchors: the absolute run and each anchor-relative run each give
 * an outcome. Any allow grants, any deny takes away, whatever the order.
 */
#ifndef CORDON_BPF_VERDICT_H
#define CORDON_BPF_VERDICT_H

#include "bpf/abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* What all runs together say of one name. Start from VERDICT_NONE and add each run. */
struct verdict {
	__u32 allow;
	__u32 deny;
	/* over every continuation of the name, see struct cordon_final */
	__u32 may_allow;
	__u32 must_allow;
	__u32 may_deny;
};

static __always_inline void verdict_add(struct verdict *v, const struct cordon_verdict *outcome)
{
	v->allow |= outcome->allow;
	v->deny |= outcome->deny;
}

static __always_inline void verdict_add_final(struct verdict *v, const struct cordon_final *final)
{
	v->may_allow |= final->may_allow;
	v->must_allow |= final->must_allow;
	v->may_deny |= final->may_deny;
}

/* The rights of `wanted` that are missing; 0: granted. */
static __always_inline __u32 verdict_missing(const struct verdict *v, __u32 wanted)
{
	return wanted & ~(v->allow & ~v->deny);
}

/* A single object's new name must grant no right that its old name did not. */
static __always_inline int verdict_name_widens(const struct verdict *from, const struct verdict *to)
{
	__u32 before = from->allow & ~from->deny;
	__u32 after = to->allow & ~to->deny;

	return (after & ~before & CORDON_NAMED_RIGHTS) != 0;
}

/*
 * The same for everything below a directory. An upper bound of what the new place grants to any
 * name against a lower bound of what the old place grants to every name: never wrong in the
 * granting direction. Callers first compare the states themselves, which settles the common move
 * inside one subtree exactly.
 */
static __always_inline int verdict_tree_widens(const struct verdict *from, const struct verdict *to)
{
	__u32 before = from->must_allow & ~from->may_deny;

	return (to->may_allow & ~before & CORDON_NAMED_RIGHTS) != 0;
}

#endif
